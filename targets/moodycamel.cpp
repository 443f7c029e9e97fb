// moodycamel::ConcurrentQueue with implicit producers, single and bulk operations.
//
// Guarantee: elements of one producer leave in the order it enqueued them, none is lost or doubled;
// no order between producers, and "empty" may be wrong while others dequeue. Bulk operations
// promise nothing beyond their elements.
// Source: README of concurrentqueue, "High-level design"; the comments on try_dequeue in
// concurrentqueue.h.
// Race: *moodycamel::ConcurrentQueue<* consumers count what they took by release alone, and the
// last one hands the block on: mended after 1.0.3, in 0d54c67.
#include "moodycamel.hpp"

using Target = targets::ImplicitQueue<moodycamel::ConcurrentQueueDefaultTraits>;
INTERLAP_TARGET(Target)
