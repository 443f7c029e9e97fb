// cds::container::FCPriorityQueue: flat combining on a std::priority_queue.
//
// Guarantee: linearizable priority queue; one combining thread does the operations of all, one
// after another.
// Source: class documentation of cds::container::FCPriorityQueue, which names Hendler, Incze,
// Shavit, Tzafrir, "Flat Combining and the Synchronization-Parallelism Tradeoff", SPAA 2010.
// interlap: -lcds -lboost_thread
#include <cds/container/fcpriority_queue.h>

#include "cds_queue.hpp"

using Heap = cds::container::FCPriorityQueue<
    int64_t, std::priority_queue<int64_t, std::vector<int64_t>, std::greater<int64_t>>>;
struct Target : targets::CdsPriorityQueue<Heap, targets::CdsCombined> {
    static constexpr auto library = "cds::container::FCPriorityQueue";
    static constexpr auto model = "priority-queue";
};
INTERLAP_TARGET(Target)
