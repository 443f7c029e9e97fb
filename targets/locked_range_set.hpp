// A sorted array under one lock that readers share.
#ifndef INTERLAP_TARGETS_LOCKED_RANGE_SET_HPP
#define INTERLAP_TARGETS_LOCKED_RANGE_SET_HPP

#include <algorithm>
#include <interlap.hpp>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace targets {

// How the keys of a range are counted.
struct UnderOneLock {
    template <class Set> static int64_t count(Set &set, int64_t low, int64_t high) {
        std::shared_lock<std::shared_mutex> lock(set.mutex);
        auto from = set.at(low);
        return std::upper_bound(from, set.keys.end(), high) - from;
    }
};

// Every operation takes effect while it holds the lock.
template <class Count> struct LockedRangeSet {
    static constexpr auto model = "range-set";
    using Reading = std::shared_lock<std::shared_mutex>;
    using Writing = std::unique_lock<std::shared_mutex>;

    std::shared_mutex mutex;
    std::vector<int64_t> keys;

    std::vector<int64_t>::iterator at(int64_t key) {
        return std::lower_bound(keys.begin(), keys.end(), key);
    }

    bool insert(int64_t key) {
        Writing lock(mutex);
        auto place = at(key);
        if (place != keys.end() && *place == key) return false;
        keys.insert(place, key);
        return true;
    }
    bool remove(int64_t key) {
        Writing lock(mutex);
        auto place = at(key);
        if (place == keys.end() || *place != key) return false;
        keys.erase(place);
        return true;
    }
    bool contains(int64_t key) {
        Reading lock(mutex);
        return std::binary_search(keys.begin(), keys.end(), key);
    }
    int64_t range_count(int64_t low, int64_t high) { return Count::count(*this, low, high); }
    int64_t rank(int64_t key) {
        Reading lock(mutex);
        return at(key) - keys.begin();
    }
    int64_t size() {
        Reading lock(mutex);
        return static_cast<int64_t>(keys.size());
    }
    bool select(int64_t n, int64_t &key) {
        Reading lock(mutex);
        if (static_cast<uint64_t>(n) >= keys.size()) return false;
        key = keys[static_cast<uint64_t>(n)];
        return true;
    }
    size_t range_list(int64_t low, int64_t high, int64_t *list, size_t most) {
        Reading lock(mutex);
        size_t n = 0;
        for (auto key = at(low); key != keys.end() && *key <= high && n < most; ++key)
            list[n++] = *key;
        return n;
    }
};

} // namespace targets
#endif
