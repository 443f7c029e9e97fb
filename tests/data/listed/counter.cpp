// A counter that lists its methods.
#include <atomic>
#include <interlap_operations.hpp>
struct Counter {
    std::atomic<int> value{0};
    int add(int amount) { return value.fetch_add(amount); }
    int read() const { return value; }
};
INTERLAP_OPERATIONS(Counter, add, read)
