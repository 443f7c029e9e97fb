// A bounded ring for one producer and one consumer (Lamport).
#ifndef INTERLAP_TARGETS_RING_SPSC_HPP
#define INTERLAP_TARGETS_RING_SPSC_HPP

#include <atomic>
#include <interlap.hpp>

namespace targets {

// How an enqueue puts its value into `slot` and moves the tail to `next`.
struct WriteThenPublish {
    static void add(std::atomic<int64_t> &slot, int64_t value, std::atomic<uint64_t> &tail,
                    uint64_t next) {
        slot.store(value, std::memory_order_relaxed);
        tail.store(next, std::memory_order_release);
    }
};

// Each side writes only its own position and knows it exactly; the other side's only grows. So what
// it reads there makes "full" and "empty" true at the instant of the read.
template <class Publish, unsigned capacity = 4> struct RingSpsc {
    static constexpr auto model = "fifo";
    static constexpr bool one_producer = true;
    static constexpr bool one_consumer = true;

    std::atomic<int64_t> slots[capacity] = {};
    alignas(64) std::atomic<uint64_t> tail{0};
    alignas(64) std::atomic<uint64_t> head{0};

    bool enqueue(int64_t value) {
        uint64_t at = tail.load(std::memory_order_relaxed);
        if (at - head.load(std::memory_order_acquire) == capacity) return false;
        Publish::add(slots[at % capacity], value, tail, at + 1);
        return true;
    }

    bool dequeue(int64_t &value) {
        uint64_t at = head.load(std::memory_order_relaxed);
        if (at == tail.load(std::memory_order_acquire)) return false;
        value = slots[at % capacity].load(std::memory_order_relaxed);
        head.store(at + 1, std::memory_order_release);
        return true;
    }
};

} // namespace targets
#endif
