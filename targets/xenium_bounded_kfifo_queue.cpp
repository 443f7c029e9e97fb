// xenium::kirsch_bounded_kfifo_queue with room for 4 segments of 2: found to lose elements.
//
// As released and as of today, `committed` in kirsch_bounded_kfifo_queue.hpp reads the tail and
// then the head. If the head passes that tail in between, `in_valid_region` takes it for a queue
// that wraps around, and the element that try_push has put into a segment behind the head for one
// that is in the queue: try_push answers true, and try_pop does not find it ("lost", or "empty"
// until the tail has come round again). Besides, `not_in_valid_region` has its comparisons the
// wrong way round: tail_old is to be held against the head, tail_current against tail_old. To see
// it: interlap fuzz xenium_bounded_kfifo_queue --engine controlled
//
// Guarantee: what is pushed is popped once, at most k - 1 places out of order (of which nothing is
// checked here). Whether "empty" is exact is not said.
// Source: class documentation, which names Kirsch, Lippautz, Payer, "Fast and Scalable, Lock-free
// k-FIFO Queues", PaCT 2013.
#include "xenium.hpp"

#include <xenium/kirsch_bounded_kfifo_queue.hpp>

struct Target {
    static constexpr auto library = "xenium::kirsch_bounded_kfifo_queue";
    static constexpr auto model = "pool:empty=lone";
    static constexpr unsigned block_size = 2;

    xenium::kirsch_bounded_kfifo_queue<int64_t *> queue{block_size, 4};

    // Elements are pointers; these are never followed.
    static constexpr int64_t lowest = 0x10000;

    ~Target() {
        // The queue's destructor would delete what is left.
        for (int64_t *left; queue.try_pop(left);) {
        }
    }
    bool enqueue(int64_t value) {
        return queue.try_push(reinterpret_cast<int64_t *>(lowest + value * 8));
    }
    bool dequeue(int64_t &value) {
        int64_t *taken = nullptr;
        if (!queue.try_pop(taken)) return false;
        value = (reinterpret_cast<int64_t>(taken) - lowest) / 8;
        return true;
    }
};
INTERLAP_TARGET(Target)
