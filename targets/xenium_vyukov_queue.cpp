// xenium::vyukov_bounded_queue with room for 4, by try_push_strong and try_pop_strong: found to
// answer "empty" while it is not, as C++ defines memory.
//
// In version 0.0.2 all accesses of dequeue_pos and enqueue_pos are relaxed. A pop that sees in
// dequeue_pos that another one was made need not see what was pushed before that: it finds the old
// sequence in the cell and the old enqueue_pos, and says "empty", which try_pop_strong promises to
// say of an empty queue only. Where dequeue_pos is read by acquire and written by acq_rel, this
// does not show. Neither x86 nor, as far as we see, ARMv8 does what C++ allows here.
// To see it: interlap fuzz xenium_vyukov_queue
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
