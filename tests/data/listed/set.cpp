// A set that lists its methods; its remove does not say what it found.
#include <interlap_operations.hpp>
#include <mutex>
#include <set>
struct Set {
    std::mutex mutex;
    std::set<int> keys;
    bool insert(int key) {
        std::lock_guard guard(mutex);
        return keys.insert(key).second;
    }
    void remove(int key) {
        std::lock_guard guard(mutex);
        keys.erase(key);
    }
    bool contains(int key) {
        std::lock_guard guard(mutex);
        return keys.count(key) > 0;
    }
};
INTERLAP_OPERATIONS(Set, insert, remove, contains)
