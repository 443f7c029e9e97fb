// NAME: a deque under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable deque with one owner.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <deque>
#include <mutex>

struct Target {
    // What it promises. An option after a colon weakens it: "deque:empty=lone" if a steal may
    // answer "empty" because it lost a race, "deque:empty=none" if "empty" may be wrong at any
    // time. Without this line: "deque".
    static constexpr auto model = "deque";

    // Also possible, where it holds:
    // static constexpr unsigned capacity = 1024;     push answers false when this many are in

    std::mutex mutex;
    std::deque<int64_t> values;

    // The owner, thread 0, pushes and takes at the bottom.
    bool push(int64_t value) { // false: full
        std::lock_guard<std::mutex> guard(mutex);
        values.push_back(value);
        return true;
    }
    bool take(int64_t &value) { // false: empty
        std::lock_guard<std::mutex> guard(mutex);
        if (values.empty()) return false;
        value = values.back();
        values.pop_back();
        return true;
    }
    // Every other thread steals at the top.
    bool steal(int64_t &value) { // false: empty
        std::lock_guard<std::mutex> guard(mutex);
        if (values.empty()) return false;
        value = values.front();
        values.pop_front();
        return true;
    }
};
INTERLAP_TARGET(Target)
