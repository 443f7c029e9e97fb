// NAME: a stack under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable LIFO stack.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <mutex>
#include <vector>

struct Target {
    // What it promises. An option after a colon weakens it: "lifo:empty=lone" if its "empty" may be
    // wrong while another call takes something, "lifo:empty=none" if it may be wrong at any time.
    // Without this line: "lifo".
    static constexpr auto model = "lifo";

    // Also possible, where they hold:
    // static constexpr unsigned capacity = 1024;     push answers false when this many are in
    // static constexpr unsigned block_size = 32;     a size at which its inner workings change

    std::mutex mutex;
    std::vector<int64_t> values;

    bool push(int64_t value) { // false: full
        std::lock_guard<std::mutex> guard(mutex);
        values.push_back(value);
        return true;
    }
    bool pop(int64_t &value) { // false: empty
        std::lock_guard<std::mutex> guard(mutex);
        if (values.empty()) return false;
        value = values.back();
        values.pop_back();
        return true;
    }
    // What each thread needs for itself (a token, a list of free nodes) goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
