// cds::container::FCDeque: flat combining on a std::deque.
//
// The deque allows every thread at both ends; here one works at the back, the others take from the
// front.
//
// Guarantee: linearizable deque; one combining thread does the operations of all, one after
// another.
// Source: class documentation of cds::container::FCDeque, which names Hendler, Incze, Shavit,
// Tzafrir, "Flat Combining and the Synchronization-Parallelism Tradeoff", SPAA 2010.
// interlap: -lcds -lboost_thread
#include <cds/container/fcdeque.h>

#include "cds_queue.hpp"

struct Target : targets::CdsCombined<cds::container::FCDeque<int64_t>> {
    static constexpr auto library = "cds::container::FCDeque";
    static constexpr auto model = "deque";

    bool push(Local &, int64_t value) { return container->push_back(value); }
    bool take(Local &, int64_t &value) { return container->pop_back(value); }
    bool steal(Local &, int64_t &value) { return container->pop_front(value); }
};
INTERLAP_TARGET(Target)
