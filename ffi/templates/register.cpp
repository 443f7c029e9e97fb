// NAME: a register under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable register.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: one value that threads read and write (a word, a seqlock, a shared pointer).
#include <mutex>

struct Target {
    // What it promises; without this line: "register".
    static constexpr auto model = "register";

    std::mutex mutex;
    int64_t value = 0; // a register holds 0 at first

    int64_t read() {
        std::lock_guard<std::mutex> guard(mutex);
        return value;
    }
    // Leave out what the structure does not have.
    void write(int64_t to) {
        std::lock_guard<std::mutex> guard(mutex);
        value = to;
    }
    bool compare_exchange(int64_t old, int64_t to) { // false: it did not hold `old`
        std::lock_guard<std::mutex> guard(mutex);
        if (value != old) return false;
        value = to;
        return true;
    }
    // What each thread needs for itself goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
