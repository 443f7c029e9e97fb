// xenium::vyukov_bounded_queue with room for 4, by try_push_strong and try_pop_strong.
//
// Guarantee: linearizable bounded FIFO queue; try_pop_strong answers false only if the queue is
// empty.
// Source: class documentation of xenium::vyukov_bounded_queue.
#include <interlap.hpp>
#include <xenium/vyukov_bounded_queue.hpp>

struct Target {
    static constexpr auto library = "xenium::vyukov_bounded_queue";
    static constexpr auto model = "fifo";
    static constexpr unsigned capacity = 4;

    xenium::vyukov_bounded_queue<int64_t> queue{capacity};

    bool enqueue(int64_t value) { return queue.try_push_strong(value); }
    bool dequeue(int64_t &value) { return queue.try_pop_strong(value); }
};
INTERLAP_TARGET(Target)
