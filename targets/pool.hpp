// Nodes that are named by an index and used again, for structures which must survive that: a lock
// free list of unused nodes (last in, first out, so a node comes back soon) that grows when empty.
#ifndef INTERLAP_TARGETS_POOL_HPP
#define INTERLAP_TARGETS_POOL_HPP

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace targets {

// A word that names a node: the index in the low half (0: none), a tag in the high half.
inline uint32_t index_of(uint64_t word) { return static_cast<uint32_t>(word); }

// The word after `old` in the same place, naming `index`. The tag counts the changes of the place,
// so a compare-and-swap fails if the place changed meanwhile, even if it names the same node again.
// (A tag of 32 bits comes back only after 4 billion changes during one such attempt.)
struct Tagged {
    static uint64_t moved(uint64_t old, uint32_t index) {
        return ((old >> 32) + 1) << 32 | index;
    }
};

// Node needs a member `std::atomic<uint32_t> unused_next`. Everything in a node that others may
// still look at after it was given back must be atomic.
template <class Node> class Pool {
    static constexpr uint32_t first_size = 64; // chunk c holds first_size << c nodes
    static constexpr int chunk_max = 25;

    std::unique_ptr<Node[]> chunks[chunk_max];
    int chunk_count = 0; // guarded by `growing`
    std::mutex growing;
    std::atomic<uint64_t> unused{0};

    static int chunk_of(uint32_t index) { return 31 - __builtin_clz(index / first_size + 1); }
    static uint32_t begin_of(int chunk) { return (first_size << chunk) - first_size; }

    // Adds a chunk, keeps one of its nodes for the caller and gives the others to everybody. Their
    // release of `unused` also publishes the pointer to the chunk, which is read plainly.
    uint32_t grow() {
        std::lock_guard<std::mutex> guard(growing);
        int chunk = chunk_count++;
        chunks[chunk].reset(new Node[first_size << chunk]());
        uint32_t begin = begin_of(chunk) + (chunk == 0); // index 0 means none
        for (uint32_t i = begin_of(chunk + 1) - 1; i > begin; i--) give(i);
        return begin;
    }

public:
    Pool() { give(grow()); }

    Node &operator[](uint32_t index) {
        int chunk = chunk_of(index);
        return chunks[chunk][index - begin_of(chunk)];
    }

    uint32_t take() {
        uint64_t top = unused.load(std::memory_order_acquire);
        while (index_of(top) != 0) {
            Node &node = (*this)[index_of(top)];
            uint64_t next = Tagged::moved(top, node.unused_next.load(std::memory_order_relaxed));
            if (unused.compare_exchange_weak(top, next, std::memory_order_acquire))
                return index_of(top);
        }
        return grow();
    }

    void give(uint32_t index) {
        uint64_t top = unused.load(std::memory_order_relaxed);
        do {
            (*this)[index].unused_next.store(index_of(top), std::memory_order_relaxed);
        } while (!unused.compare_exchange_weak(top, Tagged::moved(top, index),
                                               std::memory_order_release,
                                               std::memory_order_relaxed));
    }
};

} // namespace targets
#endif
