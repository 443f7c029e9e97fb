// cds::container::BasketQueue with hazard pointers.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation of cds::container::BasketQueue, which names Hoffman, Shalev, Shavit,
// "The Baskets Queue", OPODIS 2007.
// interlap: -lcds
#include <cds/gc/hp.h>
#include <cds/container/basket_queue.h>

#include "cds_queue.hpp"

using Queue = cds::container::BasketQueue<cds::gc::HP, int64_t>;
struct Target : targets::CdsQueue<Queue> {
    static constexpr auto library = "cds::container::BasketQueue<cds::gc::HP>";
    static constexpr auto model = "fifo";
};
INTERLAP_TARGET(Target)
