// A Treiber stack whose nodes are used again through a pool.
#ifndef INTERLAP_TARGETS_TREIBER_STACK_HPP
#define INTERLAP_TARGETS_TREIBER_STACK_HPP

#include <interlap.hpp>

#include "pool.hpp"

namespace targets {

// Tags: how the word `top` moves on (see pool.hpp).
template <class Tags> struct TreiberStack {
    static constexpr auto model = "lifo";
    struct Node {
        std::atomic<int64_t> value;
        std::atomic<uint32_t> next;
    };
    struct Local {
        typename Pool<Node>::Part nodes;
        Local(TreiberStack &stack, unsigned) : nodes(stack.pool) {}
    };

    Pool<Node> pool;
    std::atomic<uint64_t> top{0};

    // Every change of `top` is a read-modify-write, so the release of a push is seen through all
    // later changes, and the pop that acquires `top` sees the node's value and next.
    bool push(Local &local, int64_t value) {
        uint32_t index = local.nodes.take();
        pool[index].value.store(value, std::memory_order_relaxed);
        uint64_t old = top.load(std::memory_order_relaxed);
        do {
            pool[index].next.store(index_of(old), std::memory_order_relaxed);
        } while (!top.compare_exchange_weak(old, Tags::moved(old, index),
                                            std::memory_order_release,
                                            std::memory_order_relaxed));
        return true;
    }

    bool pop(Local &local, int64_t &value) {
        uint64_t old = top.load(std::memory_order_acquire);
        while (index_of(old) != 0) {
            // If the node was popped meanwhile, `next` may be anything: then `top` has moved on.
            uint32_t next = pool[index_of(old)].next.load(std::memory_order_relaxed);
            if (top.compare_exchange_weak(old, Tags::moved(old, next),
                                          std::memory_order_acquire)) {
                value = pool[index_of(old)].value.load(std::memory_order_relaxed);
                local.nodes.give(index_of(old));
                return true;
            }
        }
        return false; // `top` named no node at the instant of the last load
    }
};

} // namespace targets
#endif
