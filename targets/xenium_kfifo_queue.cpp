// xenium::kirsch_kfifo_queue with k = 4: found to lose elements where memory is weaker than x86's.
//
// In version 0.0.2 three places of kirsch_kfifo_queue.hpp order too little:
// - `committed` saves what push has put into the segment at the head by giving the head a new mark,
//   with a relaxed compare-exchange (line 295). Who takes that mark from the head need not see the
//   element, which was stored before it: try_pop finds the segment empty, and moves the head on.
// - try_pop compares the tail by a relaxed load (line 250). Who sees a new tail by it need not see
//   the link to it: advance_head makes a null pointer the head, and the next call crashes. With an
//   acquire there, no crash was seen.
// - `committed` looks at `deleted` and at the head after push has stored the element; nothing
//   orders that store before these loads. With the first two mended, elements are still lost so.
// x86 does not show these. To see them: interlap fuzz xenium_kfifo_queue
//
// Guarantee: what is pushed is popped once, at most k - 1 places out of order (of which nothing is
// checked here). Whether "empty" is exact is not said.
// Source: class documentation, which names Kirsch, Lippautz, Payer, "Fast and Scalable, Lock-free
// k-FIFO Queues", PaCT 2013.
#include "xenium.hpp"

#include <xenium/kirsch_kfifo_queue.hpp>

struct Target {
    static constexpr auto library = "xenium::kirsch_kfifo_queue";
    static constexpr auto model = "pool:empty=lone";
    static constexpr unsigned block_size = 4;

    xenium::kirsch_kfifo_queue<int64_t *, targets::Epochs> queue{block_size};

    // Elements are pointers; these are never followed. They begin where memory does: an assertion
    // of the library forbids 0x100.
    static constexpr int64_t lowest = 0x10000;

    void enqueue(int64_t value) { queue.push(reinterpret_cast<int64_t *>(lowest + value * 8)); }
    bool dequeue(int64_t &value) {
        int64_t *taken = nullptr;
        if (!queue.try_pop(taken)) return false;
        value = (reinterpret_cast<int64_t>(taken) - lowest) / 8;
        return true;
    }
};
INTERLAP_TARGET(Target)
