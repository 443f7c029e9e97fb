// cds::container::FCQueue: flat combining on a std::queue.
//
// Guarantee: linearizable FIFO queue; one combining thread does the operations of all, one after
// another.
// Source: class documentation of cds::container::FCQueue, which names Hendler, Incze, Shavit,
// Tzafrir, "Flat Combining and the Synchronization-Parallelism Tradeoff", SPAA 2010.
// interlap: -lcds -lboost_thread
#include <cds/container/fcqueue.h>

#include "cds_queue.hpp"

using Queue = cds::container::FCQueue<int64_t>;
struct Target : targets::CdsQueue<Queue, targets::CdsCombined> {
    static constexpr auto library = "cds::container::FCQueue";
    static constexpr auto model = "fifo";
};
INTERLAP_TARGET(Target)
