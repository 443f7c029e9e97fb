// xenium::ramalhete_queue with hazard pointers, in nodes of 4 entries: found to answer "empty"
// while it is not, as C++ defines memory.
//
// In version 0.0.2 try_pop takes the last place of a node by a fetch_add of pop_idx that releases
// and does not acquire (11 in ramalhete_queue.hpp). It need not see what the pop before it has
// seen: it finds no next node where there is one, and says "empty". With acq_rel there, this does
// not show. x86 does not show it.
// To see it: interlap fuzz xenium_ramalhete_queue_hp
//
// Entries must be smaller than a pointer and not 0, so values go through 32 bits.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation ("multi-producer/multi-consumer FIFO queue"), which names Ramalhete
// and Correia, "FAAArrayQueue", 2016.
#include "xenium.hpp"

#include <xenium/ramalhete_queue.hpp>

using Queue = xenium::ramalhete_queue<uint32_t, targets::HazardPointers,
                                      xenium::policy::entries_per_node<4>>;
struct Target : targets::XeniumQueue<Queue> {
    static constexpr auto library = "xenium::ramalhete_queue";
    static constexpr auto model = "fifo";
    static constexpr unsigned block_size = 4;
};
INTERLAP_TARGET(Target)
