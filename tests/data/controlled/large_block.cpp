// Address space of which little is touched. Controlled: refused.
#include <interlap.hpp>

#include <atomic>
#include <cstdlib>

struct Counter {
    static constexpr size_t size = size_t(600) << 20;
    std::atomic<int64_t> *slots = static_cast<std::atomic<int64_t> *>(std::calloc(size, 1));
    Counter() {
        if (!slots) __builtin_trap();
    }
    ~Counter() { std::free(slots); }
    void add(int64_t amount) { slots[1000000] += amount; }
    int64_t read() { return slots[1000000]; }
};
INTERLAP_TARGET(Counter)
