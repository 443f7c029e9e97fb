// NAME: a priority queue under test. (These first lines are shown by `interlap targets`.)
//
// Guarantee: linearizable priority queue, the smallest value first.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <functional>
#include <mutex>
#include <queue>
#include <vector>

struct Target {
    // What it promises. An option after a colon weakens it: "priority-queue:empty=lone" if its
    // "empty" may be wrong while another call takes something, "priority-queue:empty=none" if it
    // may be wrong at any time. Without this line: "priority-queue".
    static constexpr auto model = "priority-queue";

    // Also possible, where it holds:
    // static constexpr unsigned capacity = 1024;     insert answers false when this many are in

    std::mutex mutex;
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<int64_t>> values;

    bool insert(int64_t value) { // false: full
        std::lock_guard<std::mutex> guard(mutex);
        values.push(value);
        return true;
    }
    // The smallest value leaves first. If yours hands out the largest, put in ~value, and ~ again
    // what comes out.
    bool poll(int64_t &value) { // false: empty
        std::lock_guard<std::mutex> guard(mutex);
        if (values.empty()) return false;
        value = values.top();
        values.pop();
        return true;
    }
    // What each thread needs for itself (a token, a list of free nodes) goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
