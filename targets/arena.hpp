// Nodes that live until the structure is destroyed, for structures without memory reclamation.
#ifndef INTERLAP_TARGETS_ARENA_HPP
#define INTERLAP_TARGETS_ARENA_HPP

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace targets {

template <class Node> class Arena {
    std::mutex mutex;
    std::vector<std::deque<Node>> kept;

public:
    // A thread's own part of the arena: makes nodes without a lock, and leaves them to the arena
    // when the thread leaves. (Moving a deque does not move its elements.)
    class Part {
        Arena &arena;
        std::deque<Node> nodes;

    public:
        explicit Part(Arena &arena) : arena(arena) {}
        Part(const Part &) = delete;
        Part &operator=(const Part &) = delete;
        ~Part() {
            std::lock_guard<std::mutex> guard(arena.mutex);
            arena.kept.push_back(std::move(nodes));
        }
        template <class... Args> Node *make(Args... args) { return &nodes.emplace_back(args...); }
    };
};

} // namespace targets
#endif
