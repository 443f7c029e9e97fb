// What the atomic_queue targets share: a bounded ring of 64-bit integers.
//
// AtomicQueue and AtomicQueueB mark a free slot by the value 0, which the workload never adds;
// AtomicQueue2 and AtomicQueueB2 keep a state beside each slot.
#ifndef INTERLAP_TARGETS_ATOMIC_QUEUE_HPP
#define INTERLAP_TARGETS_ATOMIC_QUEUE_HPP

#include <atomic_queue/atomic_queue.h>
#include <interlap.hpp>

#ifndef CAPACITY
#define CAPACITY 16
#endif

namespace targets {

// Queue: one with the capacity in its type, or one that is told it.
template <class Queue> struct AtomicQueueTarget {
    static constexpr auto library = "atomic_queue";
    static constexpr auto model = "pool:empty=lone";
    static constexpr unsigned capacity = CAPACITY;
    static constexpr unsigned block_size = CAPACITY;

    static Queue make() {
        if constexpr (std::is_constructible_v<Queue, unsigned>)
            return Queue(CAPACITY);
        else
            return Queue();
    }

    Queue queue = make();

    bool enqueue(int64_t value) { return queue.try_push(value); }
    bool dequeue(int64_t &value) { return queue.try_pop(value); }
};

} // namespace targets
#endif
