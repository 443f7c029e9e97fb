// cds::container::SegmentedQueue of segments of 4: an element may overtake some others.
//
// Guarantee: what is enqueued is dequeued once, at most as many places out of order as a segment
// has (of which nothing is checked here). "Empty" is not linearizable.
// Source: class documentation of cds::container::SegmentedQueue, which names Afek, Korland,
// Yanovsky, "Quasi-Linearizability: Relaxed Consistency for Improved Concurrency", OPODIS 2010.
// interlap: -lcds
#include <cds/gc/hp.h>
#include <cds/container/segmented_queue.h>

#include "cds_queue.hpp"

struct Traits : cds::container::segmented_queue::traits {
    using lock_type = targets::SpinLock;
};
using Queue = cds::container::SegmentedQueue<cds::gc::HP, int64_t, Traits>;
struct Target : targets::CdsQueue<Queue> {
    static constexpr auto library = "cds::container::SegmentedQueue<cds::gc::HP>";
    static constexpr auto model = "pool:empty=none";
    static constexpr unsigned block_size = 4;
    Target() : CdsQueue(block_size) {}
};
INTERLAP_TARGET(Target)
