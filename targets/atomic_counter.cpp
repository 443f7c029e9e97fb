// std::atomic as a counter.
//
// Guarantee: linearizable counter; sequentially consistent operations on one atomic word.
// Source: C++17, 32.4 [atomics.order].
#include <atomic>
#include <interlap.hpp>

struct Target {
    static constexpr auto model = "counter";
    std::atomic<int64_t> word{0};

    int64_t add(int64_t amount) { return word.fetch_add(amount); }
    int64_t read() { return word.load(); }
};
INTERLAP_TARGET(Target)
