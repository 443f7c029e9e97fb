// NAME: a set under test that counts. (These first lines are shown by `interlap targets`; say what
// it is.)
//
// Guarantee: linearizable set; counts, ranks and lists are those of one instant.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <iterator>
#include <mutex>
#include <set>

struct Target {
    // What it promises; without this line: "range-set".
    static constexpr auto model = "range-set";

    std::mutex mutex;
    std::set<int64_t> keys;

    // Leave out what the structure does not have. Keys are integers: map them to what you need, in
    // the same order. Ranges include both ends.
    bool insert(int64_t key) { // false: it was there already
        std::lock_guard<std::mutex> guard(mutex);
        return keys.insert(key).second;
    }
    bool remove(int64_t key) { // false: it was not there
        std::lock_guard<std::mutex> guard(mutex);
        return keys.erase(key) != 0;
    }
    bool contains(int64_t key) {
        std::lock_guard<std::mutex> guard(mutex);
        return keys.count(key) != 0;
    }
    int64_t range_count(int64_t low, int64_t high) {
        std::lock_guard<std::mutex> guard(mutex);
        return std::distance(keys.lower_bound(low), keys.upper_bound(high));
    }
    int64_t rank(int64_t key) { // how many keys are below this one
        std::lock_guard<std::mutex> guard(mutex);
        return std::distance(keys.begin(), keys.lower_bound(key));
    }
    int64_t size() {
        std::lock_guard<std::mutex> guard(mutex);
        return static_cast<int64_t>(keys.size());
    }
    bool select(int64_t n, int64_t &key) { // the key above n others; false: there is none
        std::lock_guard<std::mutex> guard(mutex);
        if (n < 0 || static_cast<size_t>(n) >= keys.size()) return false;
        key = *std::next(keys.begin(), n);
        return true;
    }
    size_t range_list(int64_t low, int64_t high, int64_t *list, size_t most) { // how many
        std::lock_guard<std::mutex> guard(mutex);
        size_t n = 0;
        for (auto at = keys.lower_bound(low); at != keys.end() && *at <= high && n < most; ++at)
            list[n++] = *at;
        return n;
    }
    // What each thread needs for itself (hazard pointers, an epoch, a list of free nodes) goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
