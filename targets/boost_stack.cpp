// boost::lockfree::stack, a Treiber stack with tagged pointers and a free list.
//
// Guarantee: linearizable multi-producer multi-consumer LIFO stack; pop answers false only if the
// stack was empty.
// Source: Boost.Lockfree manual, "Introduction & Motivation" and "Data Structures".
// Race: *boost::lockfree::* a node is read that another thread may have taken and writes anew; its
// tag tells, and what was read is dropped.
#include <boost/lockfree/stack.hpp>
#include <boost/version.hpp>
#include <interlap.hpp>

struct Target {
    static constexpr auto library = "boost::lockfree::stack";
    static constexpr auto version = BOOST_LIB_VERSION;
    static constexpr auto model = "lifo";

    // Few nodes to begin with: freed ones are soon used again, which is where such stacks break.
    boost::lockfree::stack<int64_t> stack{4};

    bool push(int64_t value) { return stack.push(value); }
    bool pop(int64_t &value) { return stack.pop(value); }
};
INTERLAP_TARGET(Target)
