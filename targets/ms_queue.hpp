// A Michael-Scott queue whose nodes are used again through a pool. The names E1.. and D1.. are the
// lines of the paper's figure 1 (Michael and Scott, PODC 1996).
#ifndef INTERLAP_TARGETS_MS_QUEUE_HPP
#define INTERLAP_TARGETS_MS_QUEUE_HPP

#include <interlap.hpp>

#include "pool.hpp"

namespace targets {

struct Rechecked {
    static constexpr bool recheck = true;
};

// Tags: how the words `head`, `tail` and `next` move on (see pool.hpp). Check::recheck: whether a
// dequeue looks again whether what it read belongs together. All words are sequentially consistent.
template <class Tags, class Check = Rechecked> struct MsQueue {
    static constexpr auto model = "fifo";
    struct Node {
        std::atomic<int64_t> value;
        std::atomic<uint64_t> next;
    };
    struct Local {
        typename Pool<Node>::Part nodes;
        Local(MsQueue &queue, unsigned) : nodes(queue.pool) {}
    };

    Pool<Node> pool;
    std::atomic<uint64_t> head; // names the dummy; the first value is in the node after it
    std::atomic<uint64_t> tail; // names the last node or the one before it, never one before head

    MsQueue() {
        uint32_t dummy = pool.fresh();
        head.store(Tags::moved(0, dummy));
        tail.store(Tags::moved(0, dummy));
    }

    bool enqueue(Local &local, int64_t value) {
        uint32_t index = local.nodes.take();
        Node &node = pool[index];
        node.value.store(value, std::memory_order_relaxed);
        node.next.store(Tags::moved(node.next.load(), 0));
        for (;;) {
            uint64_t last = tail.load();
            std::atomic<uint64_t> &end = pool[index_of(last)].next;
            uint64_t next = end.load();
            if (last != tail.load()) continue; // E7
            if (index_of(next) != 0) {
                tail.compare_exchange_strong(last, Tags::moved(last, index_of(next))); // E13
            } else if (end.compare_exchange_strong(next, Tags::moved(next, index))) {
                tail.compare_exchange_strong(last, Tags::moved(last, index)); // E17
                return true;
            }
        }
    }

    bool dequeue(Local &local, int64_t &value) {
        for (;;) {
            uint64_t first = head.load();
            uint64_t last = tail.load();
            uint64_t next = pool[index_of(first)].next.load();
            if (Check::recheck && first != head.load()) continue; // D5
            if (index_of(first) == index_of(last)) {
                // Empty at the instant `next` was read: `first` was the dummy and had no successor.
                if (index_of(next) == 0) return false;
                tail.compare_exchange_strong(last, Tags::moved(last, index_of(next)));
                continue;
            }
            // Read before the swap: afterwards the node may be dequeued and used again.
            int64_t read = pool[index_of(next)].value.load(std::memory_order_relaxed);
            if (head.compare_exchange_strong(first, Tags::moved(first, index_of(next)))) {
                value = read;
                local.nodes.give(index_of(first));
                return true;
            }
        }
    }
};

} // namespace targets
#endif
