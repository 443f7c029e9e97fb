// A sorted linked list as a set, after Harris (DISC 2001) and Michael (SPAA 2002).
#ifndef INTERLAP_TARGETS_HARRIS_SET_HPP
#define INTERLAP_TARGETS_HARRIS_SET_HPP

#include <atomic>
#include <interlap.hpp>

#include "arena.hpp"

namespace targets {

// A link: the address of the next node, and in its lowest bit the mark "the node that holds this
// link is removed". A marked link never changes again.
inline bool marked(uintptr_t link) { return (link & 1) != 0; }

// What contains makes of the link of a node with the right key.
struct UnmarkedIsPresent {
    static bool present(uintptr_t link) { return !marked(link); }
};

// A key is in the set while a node with it is linked and not marked: insert takes effect when it
// links the node, remove when it marks it. Unlinking only tidies up. No node is used again, so
// there is no ABA and an old pointer is always good. All links are sequentially consistent.
template <class Contains> struct HarrisSet {
    static constexpr auto model = "set";
    struct Node {
        const int64_t key;
        std::atomic<uintptr_t> next{0};
        explicit Node(int64_t key) : key(key) {}
    };
    struct Local {
        typename Arena<Node>::Part nodes;
        Local(HarrisSet &set, unsigned) : nodes(set.arena) {}
    };

    Arena<Node> arena;
    std::atomic<uintptr_t> head{0};

    static Node *node_of(uintptr_t link) {
        return reinterpret_cast<Node *>(link & ~uintptr_t{1});
    }
    static uintptr_t link_to(Node *node) { return reinterpret_cast<uintptr_t>(node); }

    // Where a key is or belongs: `link`, unmarked, led to `node`, the first one with a key not
    // below (or null), and the node before was below. At that instant the list said so.
    struct Place {
        std::atomic<uintptr_t> *link;
        Node *node;
        bool holds(int64_t key) const { return node != nullptr && node->key == key; }
    };

    // Walks to the place of `key` and unlinks the marked nodes it meets. False: start again.
    bool walk(int64_t key, Place &place) {
        place = {&head, node_of(head.load())};
        while (place.node != nullptr) {
            uintptr_t next = place.node->next.load();
            if (marked(next)) {
                uintptr_t expected = link_to(place.node);
                uintptr_t after = link_to(node_of(next));
                if (!place.link->compare_exchange_strong(expected, after)) return false;
            } else if (place.node->key >= key) {
                return true;
            } else {
                place.link = &place.node->next;
            }
            place.node = node_of(next);
        }
        return true;
    }
    Place find(int64_t key) {
        Place place;
        while (!walk(key, place)) {}
        return place;
    }

    bool insert(Local &local, int64_t key) {
        Node *fresh = nullptr;
        for (;;) {
            Place place = find(key);
            if (place.holds(key)) return false; // it was not marked when walk read its link
            if (fresh == nullptr) fresh = local.nodes.make(key);
            uintptr_t next = link_to(place.node);
            fresh->next.store(next);
            if (place.link->compare_exchange_strong(next, link_to(fresh))) return true;
        }
    }

    bool remove(Local &, int64_t key) {
        for (;;) {
            Place place = find(key);
            if (!place.holds(key)) return false;
            uintptr_t next = place.node->next.load();
            if (marked(next)) continue; // removed by another: look whether the key is back
            if (!place.node->next.compare_exchange_strong(next, next | 1)) continue;
            // One attempt: if it fails, a later walk unlinks the node.
            uintptr_t expected = link_to(place.node);
            place.link->compare_exchange_strong(expected, next);
            return true;
        }
    }

    // Unlinks nothing and walks over marked nodes too. Every node it visits was linked at some
    // instant of the call, and two nodes with one key never are at the same time.
    bool contains(Local &, int64_t key) {
        Node *node = node_of(head.load());
        while (node != nullptr && node->key < key) node = node_of(node->next.load());
        return node != nullptr && node->key == key && Contains::present(node->next.load());
    }
};

} // namespace targets
#endif
