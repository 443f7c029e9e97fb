// NAME: a counter under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable counter.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: a number that threads add to and read (striped, sharded, combining).
#include <mutex>

struct Target {
    // What it promises; without this line: "counter".
    static constexpr auto model = "counter";

    std::mutex mutex;
    int64_t value = 0; // a counter holds 0 at first

    // If it tells nothing, let it return void.
    int64_t add(int64_t amount) { // the value before
        std::lock_guard<std::mutex> guard(mutex);
        int64_t before = value;
        value += amount;
        return before;
    }
    int64_t read() {
        std::lock_guard<std::mutex> guard(mutex);
        return value;
    }
    // What each thread needs for itself goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
