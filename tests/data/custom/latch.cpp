// A latch: open once it was counted down to zero. WRONG: two threads may count one step.
#include <atomic>
#include <interlap_operations.hpp>
struct Latch {
    std::atomic<int> left{3};
    bool count_down() { // whether this opened it
#ifdef WRONG
        int now = left;
        if (now == 0) throw std::string("open already");
        left = now - 1;
        return now == 1;
#else
        int now = left;
        do
            if (now == 0) throw std::string("open already");
        while (!left.compare_exchange_strong(now, now - 1));
        return now == 1;
#endif
    }
    bool is_open() const noexcept { return left == 0; }
};
INTERLAP_OPERATIONS(Latch, count_down, is_open)
