// cds::container::MSQueue with hazard pointers.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation of cds::container::MSQueue, which names Michael and Scott, "Simple,
// Fast, and Practical Non-Blocking and Blocking Concurrent Queue Algorithms", PODC 1996.
// interlap: -lcds
#include <cds/gc/hp.h>
#include <cds/container/msqueue.h>

#include "cds_queue.hpp"

using Queue = cds::container::MSQueue<cds::gc::HP, int64_t>;
struct Target : targets::CdsQueue<Queue> {
    static constexpr auto library = "cds::container::MSQueue<cds::gc::HP>";
    static constexpr auto model = "fifo";
};
INTERLAP_TARGET(Target)
