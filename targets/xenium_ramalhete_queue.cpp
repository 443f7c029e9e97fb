// xenium::ramalhete_queue with epochs, in nodes of 4 entries.
//
// Entries must be smaller than a pointer and not 0, so values go through 32 bits.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation ("multi-producer/multi-consumer FIFO queue"), which names Ramalhete
// and Correia, "FAAArrayQueue", 2016.
#include "xenium.hpp"

#include <xenium/ramalhete_queue.hpp>

using Queue = xenium::ramalhete_queue<uint32_t, targets::Epochs,
                                      xenium::policy::entries_per_node<4>>;
struct Target : targets::XeniumQueue<Queue> {
    static constexpr auto library = "xenium::ramalhete_queue";
    static constexpr auto model = "fifo";
    static constexpr unsigned block_size = 4;
};
INTERLAP_TARGET(Target)
