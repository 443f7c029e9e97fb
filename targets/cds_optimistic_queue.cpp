// cds::container::OptimisticQueue with hazard pointers.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation of cds::container::OptimisticQueue, which names Ladan-Mozes and
// Shavit, "An Optimistic Approach to Lock-Free FIFO Queues", DISC 2004.
// interlap: -lcds
#include <cds/gc/hp.h>
#include <cds/container/optimistic_queue.h>

#include "cds_queue.hpp"

using Queue = cds::container::OptimisticQueue<cds::gc::HP, int64_t>;
struct Target : targets::CdsQueue<Queue> {
    static constexpr auto library = "cds::container::OptimisticQueue<cds::gc::HP>";
    static constexpr auto model = "fifo";
};
INTERLAP_TARGET(Target)
