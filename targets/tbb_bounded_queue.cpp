// oneapi::tbb::concurrent_bounded_queue with room for 4, by try_push and try_pop.
//
// Guarantee: first in, first out for the values of one thread; try_pop answers false only when the
// queue is empty, try_push only when it is full. It promises no order between producers.
// Source: oneTBB developer guide, "Concurrent Queue Classes"; oneTBB specification,
// [containers.concurrent_bounded_queue].
// interlap: -ltbb
#include <interlap.hpp>
#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/version.h>

struct Target {
    static constexpr auto library = "oneapi::tbb::concurrent_bounded_queue";
    static constexpr auto version = TBB_VERSION_STRING;
    static constexpr auto model = "fifo-per-producer:empty=strong";
    static constexpr unsigned capacity = 4;

    oneapi::tbb::concurrent_bounded_queue<int64_t> queue;

    Target() { queue.set_capacity(capacity); }

    bool enqueue(int64_t value) { return queue.try_push(value); }
    bool dequeue(int64_t &value) { return queue.try_pop(value); }
};
INTERLAP_TARGET(Target)
