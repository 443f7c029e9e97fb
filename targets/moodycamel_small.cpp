// moodycamel::ConcurrentQueue with tokens and blocks of 4, so that short rounds cross blocks.
//
// The public traits make every internal size small: blocks, block indexes, the hash table, and the
// quota after which consumers move on to the next producer.
// Guarantee: elements of one producer leave in the order it enqueued them, none is lost or doubled;
// no order between producers, and "empty" may be wrong while others dequeue. Bulk operations
// promise nothing beyond their elements.
// Source: README of concurrentqueue, "High-level design"; the comments on try_dequeue in
// concurrentqueue.h.
// Race: *moodycamel::ConcurrentQueue<* consumers count what they took by release alone, and the
// last one hands the block on: mended after 1.0.3, in 0d54c67. dequeue_bulk of none reads the
// block index.
#include "moodycamel.hpp"

struct SmallTraits : moodycamel::ConcurrentQueueDefaultTraits {
    static const size_t BLOCK_SIZE = 4;
    static const size_t EXPLICIT_INITIAL_INDEX_SIZE = 2;
    static const size_t IMPLICIT_INITIAL_INDEX_SIZE = 2;
    static const size_t INITIAL_IMPLICIT_PRODUCER_HASH_SIZE = 8;
    static const std::uint32_t EXPLICIT_CONSUMER_CONSUMPTION_QUOTA_BEFORE_ROTATE = 4;
};

using Target = targets::TokenQueue<SmallTraits>;
INTERLAP_TARGET(Target)
