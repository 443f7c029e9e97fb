// cds::container::VyukovMPMCCycleQueue with room for 4.
//
// Guarantee: bounded FIFO queue; dequeue answers false only if the queue is empty.
// Source: class documentation of cds::container::VyukovMPMCCycleQueue, which names Vyukov's bounded
// MPMC queue.
// interlap: -lcds
#include <cds/container/vyukov_mpmc_cycle_queue.h>

#include "cds_queue.hpp"

using Queue = cds::container::VyukovMPMCCycleQueue<int64_t>;
struct Target : targets::CdsQueue<Queue> {
    static constexpr auto library = "cds::container::VyukovMPMCCycleQueue";
    static constexpr auto model = "fifo";
    static constexpr unsigned capacity = 4;
    Target() : CdsQueue(capacity) {}
};
INTERLAP_TARGET(Target)
