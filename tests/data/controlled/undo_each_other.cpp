// Broken: each of two threads takes one flag, sees that the other has the other one, and gives way,
// for ever; others find a flag that nobody will lower. Controlled: livelock.
#include <interlap.hpp>

#include <atomic>

struct Register {
    std::atomic<bool> wants[2] = {false, false};
    std::atomic<bool> closed{false};
    std::atomic<int64_t> value{0};

    bool try_enter(int side) {
        wants[side] = true;
        if (!wants[1 - side]) return true;
        closed = true; // BUG: nobody ever opens again
        wants[side] = false;
        return false;
    }
    void enter(int side) {
        while (closed || !try_enter(side)) {}
    }
    int64_t read() {
        enter(0);
        int64_t seen = value;
        wants[0] = false;
        return seen;
    }
    void write(int64_t v) {
        enter(1);
        value = v;
        wants[1] = false;
    }
};
INTERLAP_TARGET(Register)
