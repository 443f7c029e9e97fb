// oneapi::tbb::concurrent_queue, unbounded.
//
// Guarantee: first in, first out for the values of one thread; try_pop answers false only when the
// queue is empty. It promises no order between producers ("the definition of first is uncertain").
// Source: oneTBB developer guide, "Concurrent Queue Classes"; oneTBB specification,
// [containers.concurrent_queue].
// interlap: -ltbb
#include <interlap.hpp>
#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/version.h>

struct Target {
    static constexpr auto library = "oneapi::tbb::concurrent_queue";
    static constexpr auto version = TBB_VERSION_STRING;
    static constexpr auto model = "fifo-per-producer:empty=strong";
    static constexpr unsigned block_size = 32; // elements of a page

    oneapi::tbb::concurrent_queue<int64_t> queue;

    void enqueue(int64_t value) { queue.push(value); }
    bool dequeue(int64_t &value) { return queue.try_pop(value); }
};
INTERLAP_TARGET(Target)
