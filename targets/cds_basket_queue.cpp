// cds::container::BasketQueue with hazard pointers: found to use memory after it was freed.
//
// In libcds 2.3.3 do_dequeue (cds/intrusive/basket_queue.h:493), where head and tail were the same
// node, goes along the basket: it protects the next node by what the node before it points to. By
// then another dequeue may have taken the whole basket out and retired it (free_chain). The node
// before is protected and stays, so its link still says what it said, and is no proof that the next
// one is not freed; whether the tail has moved on is asked before the link is read, not after.
// The next turn of the loop reads the freed node. It takes a thread that is stopped there while
// another empties the queue and ends: once in some millions of rounds.
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
