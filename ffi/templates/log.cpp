// NAME: a log under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable log: each record at the next position, for ever.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <mutex>
#include <vector>

struct Target {
    // What it promises; without this line: "log".
    static constexpr auto model = "log";

    // Also possible, where it holds:
    // static constexpr bool one_producer = true;     only one thread appends

    std::mutex mutex;
    std::vector<int64_t> records;

    // false: nothing was appended. An append that may or may not have happened (a timeout) returns
    // interlap::status::unknown; let the method return interlap::status then.
    bool append(int64_t value, int64_t &position) { // the first position is 0
        std::lock_guard<std::mutex> guard(mutex);
        position = static_cast<int64_t>(records.size());
        records.push_back(value);
        return true;
    }
    // Leave out what the structure does not have.
    bool read(int64_t position, int64_t &value) { // false: nothing is there yet
        std::lock_guard<std::mutex> guard(mutex);
        if (static_cast<size_t>(position) >= records.size()) return false;
        value = records[static_cast<size_t>(position)];
        return true;
    }
    int64_t check_tail() { // how many records there are
        std::lock_guard<std::mutex> guard(mutex);
        return static_cast<int64_t>(records.size());
    }
    // What each thread needs for itself (a session, a cursor) goes into
    //     struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
