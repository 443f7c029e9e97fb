// A set behind a std::shared_mutex, which readers share and writers at times only try for.
// Controlled: clean.
#include <interlap.hpp>

#include <mutex>
#include <set>
#include <shared_mutex>

struct Set {
    std::shared_mutex mutex;
    std::set<int64_t> keys;

    bool insert(int64_t key) {
        std::unique_lock lock(mutex, std::try_to_lock);
        if (!lock.owns_lock()) lock.lock();
        return keys.insert(key).second;
    }
    bool remove(int64_t key) {
        std::unique_lock lock(mutex);
        return keys.erase(key) != 0;
    }
    bool contains(int64_t key) {
        std::shared_lock lock(mutex);
        return keys.count(key) != 0;
    }
};
INTERLAP_TARGET(Set)
