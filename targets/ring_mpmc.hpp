// A bounded ring for many producers and consumers, after Dmitry Vyukov's, with exact answers: his
// says "empty" or "full" also when it merely met a slot that another thread has not finished.
#ifndef INTERLAP_TARGETS_RING_MPMC_HPP
#define INTERLAP_TARGETS_RING_MPMC_HPP

#include <atomic>
#include <interlap.hpp>
#include <thread>

namespace targets {

// How an enqueue fills the slot it has claimed for position `at`.
struct WriteThenPublish {
    template <class Slot> static void fill(Slot &slot, int64_t value, uint64_t at) {
        slot.value.store(value, std::memory_order_relaxed);
        slot.turn.store(at + 1, std::memory_order_release);
    }
};

// An enqueue takes effect when it claims the position `tail`, a dequeue when it claims `head`: the
// order of positions is the order of the queue. head <= tail <= head + capacity always holds, since
// a position is claimed only when its slot's turn says that the other side is through with it.
// At least two slots: with one, "holds a value" and "free for the next position" were the same.
template <class Publish, unsigned capacity = 8> struct RingMpmc {
    static constexpr auto model = "fifo";

    // turn == p: free for position p; p + 1: holds the value of position p; then p + capacity.
    struct Slot {
        std::atomic<uint64_t> turn;
        std::atomic<int64_t> value{0};
    };

    Slot slots[capacity];
    alignas(64) std::atomic<uint64_t> tail{0};
    alignas(64) std::atomic<uint64_t> head{0};

    RingMpmc() {
        for (uint64_t i = 0; i < capacity; i++) slots[i].turn.store(i);
    }

    bool enqueue(int64_t value) {
        for (unsigned spins = 0;; spins++) {
            uint64_t at = tail.load();
            Slot &slot = slots[at % capacity];
            if (slot.turn.load(std::memory_order_acquire) == at) {
                if (!tail.compare_exchange_strong(at, at + 1)) continue;
                Publish::fill(slot, value, at);
                return true;
            }
            // Full at the instant `head` was read: tail >= at, and at is as far as tail can be.
            if (head.load() + capacity == at) return false;
            wait(spins);
        }
    }

    bool dequeue(int64_t &value) {
        for (unsigned spins = 0;; spins++) {
            uint64_t at = head.load();
            Slot &slot = slots[at % capacity];
            if (slot.turn.load(std::memory_order_acquire) == at + 1) {
                if (!head.compare_exchange_strong(at, at + 1)) continue;
                value = slot.value.load(std::memory_order_relaxed);
                slot.turn.store(at + capacity, std::memory_order_release);
                return true;
            }
            // Empty at the instant `tail` was read: head >= at, and head is never beyond tail.
            if (tail.load() == at) return false;
            wait(spins);
        }
    }

    // The slot is claimed but not finished, or the other side moved on: look again.
    static void wait(unsigned spins) {
        if (spins >= 8) std::this_thread::yield();
    }
};

} // namespace targets
#endif
