// What the moodycamel::ConcurrentQueue targets share: a queue of 64-bit integers driven with or
// without tokens.
#ifndef INTERLAP_TARGETS_MOODYCAMEL_HPP
#define INTERLAP_TARGETS_MOODYCAMEL_HPP

#include <concurrentqueue/concurrentqueue.h>
#include <interlap.hpp>

namespace targets {

// Each thread is its own producer, found through a hash table of thread ids.
//
// Bulk operations of no element are not passed on: version 1.0.3 takes them through code written
// for one element at least, and ends in failed assertions within seconds.
// `interlap fuzz moodycamel --cflag -DPASS_EMPTY_BULK` shows it.
template <class Traits> struct ImplicitQueue {
    static constexpr auto library = "moodycamel::ConcurrentQueue";
    static constexpr auto model = "fifo-per-producer";
    static constexpr unsigned block_size = Traits::BLOCK_SIZE;

    moodycamel::ConcurrentQueue<int64_t, Traits> queue;

    bool enqueue(int64_t value) { return queue.enqueue(value); }
    bool dequeue(int64_t &value) { return queue.try_dequeue(value); }
    bool enqueue_bulk(const int64_t *values, size_t n) {
        return skip(n) || queue.enqueue_bulk(values, n);
    }
    size_t dequeue_bulk(int64_t *values, size_t most) {
        return skip(most) ? 0 : queue.try_dequeue_bulk(values, most);
    }

    static bool skip(size_t n) {
#ifdef PASS_EMPTY_BULK
        return false;
#else
        return n == 0;
#endif
    }
};

// Each thread holds one producer token and one consumer token, as the library recommends.
template <class Traits> struct TokenQueue {
    static constexpr auto library = "moodycamel::ConcurrentQueue";
    static constexpr auto model = "fifo-per-producer";
    static constexpr unsigned block_size = Traits::BLOCK_SIZE;
    using Queue = moodycamel::ConcurrentQueue<int64_t, Traits>;

    struct Local {
        typename Queue::producer_token_t producer;
        typename Queue::consumer_token_t consumer;
        Local(TokenQueue &target, unsigned) : producer(target.queue), consumer(target.queue) {}
    };

    Queue queue;

    bool enqueue(Local &local, int64_t value) { return queue.enqueue(local.producer, value); }
    bool dequeue(Local &local, int64_t &value) {
        return queue.try_dequeue(local.consumer, value);
    }
    bool enqueue_bulk(Local &local, const int64_t *values, size_t n) {
        return queue.enqueue_bulk(local.producer, values, n);
    }
    size_t dequeue_bulk(Local &local, int64_t *values, size_t most) {
        return queue.try_dequeue_bulk(local.consumer, values, most);
    }
};

} // namespace targets
#endif
