// A register that lists its methods.
#include <atomic>
#include <interlap_operations.hpp>
struct Register {
    std::atomic<long> value{0};
    long read() const noexcept { return value; }
    void write(long to) noexcept { value = to; }
    bool compare_exchange(long old, long to) { return value.compare_exchange_strong(old, to); }
};
INTERLAP_OPERATIONS(Register, read, write, compare_exchange)
