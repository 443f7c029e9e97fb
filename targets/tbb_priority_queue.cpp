// oneapi::tbb::concurrent_priority_queue; the smallest value has the highest priority.
//
// Guarantee: items are popped in priority order; try_pop answers false only when the queue is
// empty.
// Source: oneTBB specification, [containers.concurrent_priority_queue]; all operations go through
// one aggregator, which handles them one after another.
// interlap: -ltbb
#include <functional>
#include <interlap.hpp>
#include <oneapi/tbb/concurrent_priority_queue.h>
#include <oneapi/tbb/version.h>

struct Target {
    static constexpr auto library = "oneapi::tbb::concurrent_priority_queue";
    static constexpr auto version = TBB_VERSION_STRING;
    static constexpr auto model = "priority-queue";

    oneapi::tbb::concurrent_priority_queue<int64_t, std::greater<int64_t>> queue;

    void insert(int64_t value) { queue.push(value); }
    bool poll(int64_t &value) { return queue.try_pop(value); }
};
INTERLAP_TARGET(Target)
