// A map behind a recursive mutex, locked twice by calls that call others, and one of its kin with a
// timeout. Controlled: clean.
#include <interlap.hpp>

#include <chrono>
#include <map>
#include <mutex>

struct Map {
    std::recursive_mutex mutex;
    std::recursive_timed_mutex timed;
    std::map<int64_t, int64_t> values;

    bool get(int64_t key, int64_t &value) {
        std::lock_guard lock(mutex);
        auto found = values.find(key);
        if (found == values.end()) return false;
        value = found->second;
        return true;
    }
    void put(int64_t key, int64_t value) {
        std::unique_lock patient(timed, std::chrono::microseconds(5));
        std::lock_guard lock(mutex);
        values[key] = value;
    }
    bool insert_if_absent(int64_t key, int64_t value) {
        std::lock_guard lock(mutex);
        int64_t old;
        if (get(key, old)) return false;
        values[key] = value;
        return true;
    }
    bool remove(int64_t key) {
        std::unique_lock patient(timed, std::chrono::microseconds(5));
        std::lock_guard lock(mutex);
        return values.erase(key) != 0;
    }
    bool compare_exchange(int64_t key, int64_t old, int64_t value) {
        std::lock_guard lock(mutex);
        int64_t seen;
        if (!get(key, seen) || seen != old) return false;
        values[key] = value;
        return true;
    }
};
INTERLAP_TARGET(Map)
