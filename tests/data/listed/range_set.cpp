// A set behind a lock that lists the keys of a range.
#include <interlap_operations.hpp>
#include <mutex>
#include <set>

class Set {
    std::mutex mutex;
    std::set<int> keys;

  public:
    bool insert(int key) {
        std::lock_guard<std::mutex> guard(mutex);
        return keys.insert(key).second;
    }
    bool remove(int key) {
        std::lock_guard<std::mutex> guard(mutex);
        return keys.erase(key) > 0;
    }
    std::set<int> range_list(int low, int high) {
        std::lock_guard<std::mutex> guard(mutex);
        if (high < low) return {};
        return {keys.lower_bound(low), keys.upper_bound(high)};
    }
};
INTERLAP_OPERATIONS(Set, insert, remove, range_list)
