// A counter that calls itself without end when two threads add at once. Controlled: its stack is used
// up, and the report says so.
#include <interlap.hpp>

#include <atomic>

static __attribute__((noinline)) int64_t deeper(volatile int64_t depth) {
    volatile char room[256] = {};
    room[0] = static_cast<char>(depth);
    return depth == 0 ? 0 : deeper(depth + 1) + room[0];
}

struct Counter {
    std::atomic<int64_t> value{0};
    std::atomic<int> inside{0};

    void add(int64_t amount) {
        if (inside++ > 0) value += deeper(1);
        value += amount;
        inside--;
    }
    int64_t read() { return value; }
};
INTERLAP_TARGET(Counter)
