// An unordered linked list as a set, after Zhang, Zhao, Yang, Liu and Spear, "Practical
// Non-blocking Unordered Lists" (DISC 2013), figure 2.
#ifndef INTERLAP_TARGETS_UNORDERED_SET_HPP
#define INTERLAP_TARGETS_UNORDERED_SET_HPP

#include <atomic>
#include <interlap.hpp>

#include "arena.hpp"

namespace targets {

// What the newest valid node of a key says: a node that is being decided counts already.
//   inserting  an insert that does not know yet whether the key was there: it is there now anyway
//   present    a decided insert
//   removing   a remove that does not know yet whether the key was there: it is gone now anyway
//   invalid    finished, to be unlinked; never anything else again
enum State : uint32_t { inserting, present, removing, invalid };

struct UndecidedCounts {
    static bool there(uint32_t state) { return state == inserting || state == present; }
};

// Every insert and remove puts a node in front of the list, which is the instant at which it takes
// effect; the older nodes of its key then tell what it answers. Skipped nodes are invalid for good
// and nodes are never used again, so unlinking needs no compare-and-swap: a stale store can only
// bring invalid nodes back. All words are sequentially consistent.
template <class Contains> struct UnorderedSet {
    static constexpr auto model = "set";
    struct Node {
        const int64_t key;
        std::atomic<uint32_t> state;
        std::atomic<Node *> next{nullptr};
        Node(int64_t key, State state) : key(key), state(state) {}
    };
    struct Local {
        typename Arena<Node>::Part nodes;
        Local(UnorderedSet &set, unsigned) : nodes(set.arena) {}
    };

    Arena<Node> arena;
    std::atomic<Node *> head{nullptr};

    Node *enlist(Local &local, int64_t key, State state) {
        Node *node = local.nodes.make(key, state);
        Node *first = head.load();
        do node->next.store(first);
        while (!head.compare_exchange_weak(first, node));
        return node;
    }

    // The next older valid node of the same key, or null; `state` is what it said.
    static Node *older(Node *from, uint32_t &state) {
        Node *before = from;
        Node *node = before->next.load();
        while (node != nullptr) {
            state = node->state.load();
            if (state == invalid) {
                before->next.store(node->next.load());
            } else if (node->key == from->key) {
                return node;
            } else {
                before = node;
            }
            node = before->next.load();
        }
        return nullptr;
    }

    // True if the key was there before the node `own` removed it.
    static bool take_away(Node *own) {
        uint32_t state = invalid;
        while (Node *node = older(own, state)) {
            if (state == removing) return false;
            if (state == present) {
                node->state.store(invalid); // only one remove gets here: others meet `own` first
                return true;
            }
            // An undecided insert becomes a remove, and takes away what it finds itself.
            if (node->state.compare_exchange_strong(state, removing)) return true;
        }
        return false;
    }

    bool insert(Local &local, int64_t key) {
        Node *own = enlist(local, key, inserting);
        uint32_t before = removing;
        bool inserted = older(own, before) == nullptr || before == removing;
        uint32_t expected = inserting;
        if (!own->state.compare_exchange_strong(expected, inserted ? present : invalid)) {
            take_away(own); // a remove has overtaken this insert
            own->state.store(invalid);
        }
        return inserted;
    }

    bool remove(Local &local, int64_t key) {
        Node *own = enlist(local, key, removing);
        bool removed = take_away(own);
        own->state.store(invalid);
        return removed;
    }

    bool contains(Local &, int64_t key) {
        for (Node *node = head.load(); node != nullptr; node = node->next.load()) {
            if (node->key != key) continue;
            uint32_t state = node->state.load();
            if (state != invalid) return Contains::there(state);
        }
        return false;
    }
};

} // namespace targets
#endif
