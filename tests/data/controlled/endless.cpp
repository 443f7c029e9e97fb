// Broken: a writer that sees another's value computes for ever, without an access that anybody could
// see. Controlled: hang.
#include <interlap.hpp>

#include <atomic>

struct Register {
    std::atomic<int64_t> value{0};

    static void compute() {
        for (uint64_t i = 1;; i = i * 3 + 1) asm volatile("" : "+r"(i));
    }
    int64_t read() { return value; }
    void write(int64_t v) {
        int64_t before = value;
        value = v;
        if (before != 0 && value != v) compute(); // BUG
    }
};
INTERLAP_TARGET(Register)
