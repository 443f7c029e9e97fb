// cds::container::FCStack: flat combining on a std::stack.
//
// Guarantee: linearizable stack; one combining thread does the operations of all, one after
// another.
// Source: class documentation of cds::container::FCStack, which names Hendler, Incze, Shavit,
// Tzafrir, "Flat Combining and the Synchronization-Parallelism Tradeoff", SPAA 2010.
// interlap: -lcds -lboost_thread
#include <cds/container/fcstack.h>

#include "cds_queue.hpp"

using Stack = cds::container::FCStack<int64_t>;
struct Target : targets::CdsStack<Stack, targets::CdsCombined> {
    static constexpr auto library = "cds::container::FCStack";
    static constexpr auto model = "lifo";
};
INTERLAP_TARGET(Target)
