// atomic_queue::AtomicQueueB, its smallest: room for 64 atomic words.
//
// Guarantee: every element that try_push took is handed out once; try_pop answers false only when
// the queue is empty, where an element is gone as soon as another try_pop has reserved it. In order
// only with push and pop in totally ordered mode, which these calls are not: two elements may meet
// in one slot of the ring when it wraps around.
// Source: README of atomic_queue, "Queue API" and "Available queues"
// interlap: -DCAPACITY=64
#include "atomic_queue.hpp"

using Queue = atomic_queue::AtomicQueueB<int64_t>;
using Target = targets::AtomicQueueTarget<Queue>;
INTERLAP_TARGET(Target)
