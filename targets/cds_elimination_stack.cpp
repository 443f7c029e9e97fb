// cds::container::TreiberStack with elimination: a push and a pop may meet aside.
//
// Guarantee: linearizable stack.
// Source: class documentation of cds::container::TreiberStack, which names Hendler, Shavit,
// Yerushalmi, "A Scalable Lock-free Stack Algorithm", SPAA 2004.
// interlap: -lcds
#include <cds/gc/hp.h>
#include <cds/container/treiber_stack.h>

#include "cds_queue.hpp"

struct Traits : cds::container::treiber_stack::traits {
    static constexpr const bool enable_elimination = true;
};
using Stack = cds::container::TreiberStack<cds::gc::HP, int64_t, Traits>;
struct Target : targets::CdsStack<Stack> {
    static constexpr auto library = "cds::container::TreiberStack with elimination";
    static constexpr auto model = "lifo";
};
INTERLAP_TARGET(Target)
