// cds::container::RWQueue, the two-lock queue.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation of cds::container::RWQueue, which names Michael and Scott, "Simple,
// Fast, and Practical Non-Blocking and Blocking Concurrent Queue Algorithms", PODC 1996.
// interlap: -lcds
#include <cds/container/rwqueue.h>

#include "cds_queue.hpp"

struct Traits : cds::container::rwqueue::traits {
    using lock_type = targets::SpinLock;
};
using Queue = cds::container::RWQueue<int64_t, Traits>;
struct Target : targets::CdsQueue<Queue> {
    static constexpr auto library = "cds::container::RWQueue";
    static constexpr auto model = "fifo";
};
INTERLAP_TARGET(Target)
