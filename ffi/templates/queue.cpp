// NAME: a queue under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable FIFO queue.
// Source: (say which document promises it)
// Flags to compile or link with go on a line of their own, after "interlap:"; sources of the
// library that are to be compiled along, after "interlap: source".
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <deque>
#include <mutex>

struct Target {
    // What it promises: "fifo"; "fifo-per-producer" if it keeps no order between producers; "pool"
    // if it keeps none at all. Options follow a colon: "fifo:empty=lone" if its "empty" may be
    // wrong while another call takes something, "fifo:empty=none" if it may be wrong at any time.
    // Without this line the model is "fifo".
    static constexpr auto model = "fifo";

    // Also possible, where they hold:
    // static constexpr bool one_producer = true;     only one thread enqueues
    // static constexpr bool one_consumer = true;     only one thread dequeues
    // static constexpr unsigned capacity = 1024;     enqueue answers false when this many are in
    // static constexpr unsigned block_size = 32;     a size at which its inner workings change

    std::mutex mutex;
    std::deque<int64_t> values;

    bool enqueue(int64_t value) { // false: full
        std::lock_guard<std::mutex> guard(mutex);
        values.push_back(value);
        return true;
    }
    bool dequeue(int64_t &value) { // false: empty
        std::lock_guard<std::mutex> guard(mutex);
        if (values.empty()) return false;
        value = values.front();
        values.pop_front();
        return true;
    }
    // Optional: bool enqueue_bulk(const int64_t *values, size_t n), all or none,
    //           size_t dequeue_bulk(int64_t *values, size_t most), how many. Both are also called
    //           with 0 elements: where the library forbids that, return at once.
    // What each thread needs for itself (a token, a session) goes into
    //           struct Local { Local(Target &, unsigned thread); }; as the first argument, Local &.
};
INTERLAP_TARGET(Target)
