// moodycamel::ConcurrentQueue with a producer and a consumer token for each thread.
//
// Guarantee: elements of one producer leave in the order it enqueued them, none is lost or doubled;
// no order between producers, and "empty" may be wrong while others dequeue. Bulk operations
// promise nothing beyond their elements.
// Source: README of concurrentqueue, "High-level design"; the comments on try_dequeue in
// concurrentqueue.h.
// Race: *::ExplicitProducer::dequeue_bulk<* where it is to take no element (`max` is 0) it claims
// none, and yet looks at the block of its place, which a producer may use again.
#include "moodycamel.hpp"

using Target = targets::TokenQueue<moodycamel::ConcurrentQueueDefaultTraits>;
INTERLAP_TARGET(Target)
