// NAME: a set under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable set.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <mutex>
#include <set>

struct Target {
    // What it promises; without this line: "set".
    static constexpr auto model = "set";

    std::mutex mutex;
    std::set<int64_t> keys;

    // Leave out what the structure does not have. Keys are integers: map them to what you need.
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
    // What each thread needs for itself (hazard pointers, an epoch, a list of free nodes) goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
