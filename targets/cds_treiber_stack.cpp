// cds::container::TreiberStack with hazard pointers.
//
// Guarantee: linearizable stack.
// Source: class documentation of cds::container::TreiberStack, which names Treiber, "Systems
// Programming: Coping with Parallelism", 1986.
// interlap: -lcds
#include <cds/gc/hp.h>
#include <cds/container/treiber_stack.h>

#include "cds_queue.hpp"

using Stack = cds::container::TreiberStack<cds::gc::HP, int64_t>;
struct Target : targets::CdsStack<Stack> {
    static constexpr auto library = "cds::container::TreiberStack<cds::gc::HP>";
    static constexpr auto model = "lifo";
};
INTERLAP_TARGET(Target)
