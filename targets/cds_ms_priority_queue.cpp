// cds::container::MSPriorityQueue, an array heap with a lock for each node.
//
// Guarantee: priority queue; pop answers false only if the queue is empty, push only if it is full.
// Source: class documentation of cds::container::MSPriorityQueue, which names Hunt, Michael,
// Parthasarathy, Scott, "An Efficient Algorithm for Concurrent Priority Queue Heaps", 1996.
// interlap: -lcds
#include <cds/container/mspriority_queue.h>

#include "cds_queue.hpp"

struct Traits : cds::container::mspriority_queue::traits {
    using less = std::greater<int64_t>; // the largest by this is the smallest
    using lock_type = targets::SpinLock;
    using back_off = cds::backoff::yield;
};
using Heap = cds::container::MSPriorityQueue<int64_t, Traits>;
struct Target : targets::CdsPriorityQueue<Heap> {
    static constexpr auto library = "cds::container::MSPriorityQueue";
    static constexpr auto model = "priority-queue";
    static constexpr unsigned capacity = 63;
    Target() : CdsPriorityQueue(64) {}
};
INTERLAP_TARGET(Target)
