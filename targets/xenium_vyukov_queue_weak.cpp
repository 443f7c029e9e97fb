// xenium::vyukov_bounded_queue with room for 4, by try_push_weak and try_pop_weak.
//
// Guarantee: bounded FIFO queue; try_pop_weak may answer false although the queue is not empty,
// while a push is pending.
// Source: class documentation of xenium::vyukov_bounded_queue.
#include <interlap.hpp>
#include <xenium/vyukov_bounded_queue.hpp>

struct Target {
    static constexpr auto library = "xenium::vyukov_bounded_queue";
    static constexpr auto model = "fifo:empty=none";
    static constexpr unsigned capacity = 4;

    xenium::vyukov_bounded_queue<int64_t> queue{capacity};

    bool enqueue(int64_t value) { return queue.try_push_weak(value); }
    bool dequeue(int64_t &value) { return queue.try_pop_weak(value); }
};
INTERLAP_TARGET(Target)
