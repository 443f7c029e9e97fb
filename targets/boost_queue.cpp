// boost::lockfree::queue, a Michael-Scott queue with a free list.
//
// Guarantee: linearizable multi-producer multi-consumer FIFO queue; pop answers false only if the
// queue was empty.
// Source: Boost.Lockfree manual, "Introduction & Motivation" and "Data Structures".
// Race: *boost::lockfree::* a node is read that another thread may have taken and writes anew; its
// tag tells, and what was read is dropped.
#include <boost/lockfree/queue.hpp>
#include <boost/version.hpp>
#include <interlap.hpp>

struct Target {
    static constexpr auto library = "boost::lockfree::queue";
    static constexpr auto version = BOOST_LIB_VERSION;
    static constexpr auto model = "fifo";

    // Few nodes to begin with: freed ones are soon used again, which is where such queues break.
    boost::lockfree::queue<int64_t> queue{4};

    bool enqueue(int64_t value) { return queue.push(value); }
    bool dequeue(int64_t &value) { return queue.pop(value); }
};
INTERLAP_TARGET(Target)
