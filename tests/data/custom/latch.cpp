// A latch: open once it was counted down to zero. Threads look at it until it is. WRONG: two
// threads may count one step.
#include <atomic>
#include <interlap_operations.hpp>
struct Latch {
    std::atomic<int> left{3};
    bool count_down() { // whether this opened it
        int now = left;
#ifdef WRONG
        if (now == 0) throw std::string("open already");
        left = now - 1;
#else
        do
            if (now == 0) throw std::string("open already");
        while (!left.compare_exchange_strong(now, now - 1));
#endif
        return now == 1;
    }
    void wait() const {
        while (left != 0) {
        }
    }
    bool is_open() const noexcept { return left == 0; }
};
INTERLAP_OPERATIONS(Latch, count_down, wait, is_open)
