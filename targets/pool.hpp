// Nodes that are named by an index and used again, for structures which must survive that.
#ifndef INTERLAP_TARGETS_POOL_HPP
#define INTERLAP_TARGETS_POOL_HPP

#include <atomic>
#include <cstdint>
#include <deque>
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

// Everything in a node that others may still look at after it was given back must be atomic.
template <class Node> class Pool {
    static constexpr uint32_t first_size = 64; // chunk c holds first_size << c nodes
    static constexpr int chunk_max = 25;

    // Written under the mutex, read without: whoever is told an index by another thread is told
    // through an atomic word, and so sees the chunk too.
    std::unique_ptr<Node[]> chunks[chunk_max];
    std::mutex mutex;
    uint32_t used = 1; // index 0 means none

    static int chunk_of(uint32_t index) { return 31 - __builtin_clz(index / first_size + 1); }
    static uint32_t begin_of(int chunk) { return (first_size << chunk) - first_size; }

public:
    Node &operator[](uint32_t index) {
        int chunk = chunk_of(index);
        return chunks[chunk][index - begin_of(chunk)];
    }

    // A node that was never used.
    uint32_t fresh() {
        std::lock_guard<std::mutex> guard(mutex);
        std::unique_ptr<Node[]> &chunk = chunks[chunk_of(used)];
        if (chunk == nullptr) chunk.reset(new Node[first_size << chunk_of(used)]());
        return used++;
    }

    // The nodes a thread has given back and will use again, the oldest first.
    class Part {
        Pool &pool;
        std::deque<uint32_t> unused;

    public:
        explicit Part(Pool &pool) : pool(pool) {}
        uint32_t take() {
            if (unused.empty()) return pool.fresh();
            uint32_t index = unused.front();
            unused.pop_front();
            return index;
        }
        void give(uint32_t index) { unused.push_back(index); }
    };
};

} // namespace targets
#endif
