// cds::container::MoirQueue with hazard pointers.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation of cds::container::MoirQueue, which names Doherty, Groves, Luchangco,
// Moir, "Formal Verification of a Practical Lock-Free Queue Algorithm", FORTE 2004.
// interlap: -lcds
#include <cds/gc/hp.h>
#include <cds/container/moir_queue.h>

#include "cds_queue.hpp"

using Queue = cds::container::MoirQueue<cds::gc::HP, int64_t>;
struct Target : targets::CdsQueue<Queue> {
    static constexpr auto library = "cds::container::MoirQueue<cds::gc::HP>";
    static constexpr auto model = "fifo";
};
INTERLAP_TARGET(Target)
