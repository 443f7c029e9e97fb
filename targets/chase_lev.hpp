// A Chase-Lev deque in a fixed ring, with the C11 orders of Le, Pop, Cohen and Zappa Nardelli,
// "Correct and Efficient Work-Stealing for Weak Memory Models" (PPoPP 2013), figure 1.
#ifndef INTERLAP_TARGETS_CHASE_LEV_HPP
#define INTERLAP_TARGETS_CHASE_LEV_HPP

#include <atomic>
#include <interlap.hpp>

namespace targets {

// How take claims the bottom, before it looks at the top.
struct Fenced {
    static void claim(std::atomic<int64_t> &bottom, int64_t b) {
        bottom.store(b, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
};

template <class Claim> struct ChaseLev {
    static constexpr auto model = "deque";
    static constexpr unsigned capacity = 16;

    alignas(64) std::atomic<int64_t> top{0};
    alignas(64) std::atomic<int64_t> bottom{0};
    std::atomic<int64_t> slots[capacity] = {};

    // Full at the instant `top` was read: the owner knows `bottom`.
    bool push(int64_t value) {
        int64_t b = bottom.load(std::memory_order_relaxed);
        int64_t t = top.load(std::memory_order_acquire);
        if (b - t >= capacity) return false;
        slot(b).store(value, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        bottom.store(b + 1, std::memory_order_relaxed);
        return true;
    }

    bool take(int64_t &value) {
        int64_t b = bottom.load(std::memory_order_relaxed) - 1;
        Claim::claim(bottom, b);
        int64_t t = top.load(std::memory_order_relaxed);
        bool taken = t <= b;
        if (taken) value = slot(b).load(std::memory_order_relaxed);
        if (t < b) return true; // more than one value: no thief reaches this one
        // The last value: the owner races the thieves for `top`. Losing means empty.
        if (t == b)
            taken = top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                                std::memory_order_relaxed);
        bottom.store(b + 1, std::memory_order_relaxed);
        return taken;
    }

    // "Empty" also when the owner is just taking the last value: then that take, or the thief that
    // beats it, overlaps this call and comes first. A lost race is not "empty": try again.
    bool steal(int64_t &value) {
        for (;;) {
            int64_t t = top.load(std::memory_order_acquire);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            int64_t b = bottom.load(std::memory_order_acquire);
            if (t >= b) return false;
            // Read before the swap: afterwards the owner may use the slot again.
            int64_t read = slot(t).load(std::memory_order_relaxed);
            if (top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {
                value = read;
                return true;
            }
        }
    }

    std::atomic<int64_t> &slot(int64_t at) { return slots[static_cast<uint64_t>(at) % capacity]; }
};

} // namespace targets
#endif
