// The nodes of an augmented tree, and how a few of them are replaced at once: LLX and SCX of Brown,
// Ellen and Ruppert (PODC 2013), here `look` and `replace`.
#ifndef INTERLAP_TARGETS_AUGMENTED_TREE_NODES_HPP
#define INTERLAP_TARGETS_AUGMENTED_TREE_NODES_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace targets {

// How far the propagation of one insert or remove is.
struct Propagation {
    std::atomic<bool> arrived{false}; // what it has to bring is in the version of the entry
};

// A subtree as it was at one instant. Nothing of it ever changes.
struct Version {
    const int64_t key;
    const int64_t size;            // how many keys are below
    const Version *const child[2]; // a leaf has none
    const Propagation *const by;   // who made it; null: whoever asked first for a node's version

    Version(int64_t key, int64_t size) : Version(key, size, nullptr, nullptr, nullptr) {}
    Version(int64_t key, const Version *low, const Version *high, const Propagation *by)
        : Version(key, low->size + high->size, low, high, by) {}
    Version(int64_t key, int64_t size, const Version *low, const Version *high,
            const Propagation *by)
        : key(key), size(size), child{low, high}, by(by) {}
    bool is_leaf() const { return child[0] == nullptr; }

    bool holds(int64_t wanted) const {
        const Version *at = this;
        while (!at->is_leaf()) at = at->child[wanted < at->key ? 0 : 1];
        return at->size == 1 && at->key == wanted;
    }
    // How many keys are below `limit`, or up to it.
    int64_t count(int64_t limit, bool with) const {
        int64_t before = 0;
        const Version *at = this;
        while (!at->is_leaf()) {
            if (limit >= at->key) before += at->child[0]->size;
            at = at->child[limit < at->key ? 0 : 1];
        }
        return before + (at->key < limit || (with && at->key == limit) ? at->size : 0);
    }
    // The key above `n` others. False: there are not so many.
    bool select(int64_t n, int64_t &found) const {
        if (n < 0 || n >= size) return false;
        const Version *at = this;
        while (!at->is_leaf()) {
            int64_t before = at->child[0]->size;
            at = at->child[n < before ? 0 : 1];
            if (n >= before) n -= before;
        }
        found = at->key;
        return true;
    }
    // Adds the keys from `low` up to `high` to the list, which has `n` and may have `most`.
    void list(int64_t low, int64_t high, int64_t *keys, size_t most, size_t &n) const {
        if (is_leaf()) {
            if (size == 1 && low <= key && key <= high && n < most) keys[n++] = key;
            return;
        }
        if (low < key) child[0]->list(low, high, keys, most, n);
        if (high >= key) child[1]->list(low, high, keys, most, n);
    }
};

// The key that no set holds: of the leaf to the right of all others.
constexpr int64_t above_all = std::numeric_limits<int64_t>::max();

struct Change;

// A node of the mutable tree. Keys are in the leaves; an inner node leads keys below its own to the
// left. Of `weight`: 0 is red, 1 black, more is too heavy. All words are sequentially consistent.
struct Node {
    const int64_t key;
    const int weight;
    std::atomic<Node *> child[2]; // a leaf has none
    std::atomic<const Version *> version;
    std::atomic<Change *> change{nullptr}; // the last one that claimed the node
    std::atomic<bool> removed{false};      // it is out of the tree, or will be next

    Node(int64_t key, int weight, Node *low, Node *high, const Version *version)
        : key(key), weight(weight), child{low, high}, version(version) {}
    int side(int64_t wanted) const { return wanted < key ? 0 : 1; }
    bool is_leaf() const { return child[0].load() == nullptr; }
};

// What `look` saw: the node had these children at one instant, after the change `last`.
struct Look {
    Node *node;
    Node *child[2];
    Change *last;

    bool is_leaf() const { return child[0] == nullptr; }
    // Which child it is; -1: none of them, any more.
    int side_of(const Node *of) const { return child[0] == of ? 0 : child[1] == of ? 1 : -1; }
};

// A change of the tree: the second of its nodes, a child of the first, is replaced by `fresh`. All
// nodes but the first leave the tree. Any thread may carry it on.
struct Change {
    enum State { under_way, done, given_up };
    static constexpr int most = 5;

    int count = 0;
    Node *nodes[most];
    Change *seen[most];
    std::atomic<Node *> *place;
    Node *fresh;
    std::atomic<State> state{under_way};
    std::atomic<bool> claimed{false}; // all its nodes: it can no longer be given up

    Change(std::initializer_list<Look> looks, Node *fresh) : fresh(fresh) {
        for (const Look &look : looks) {
            nodes[count] = look.node;
            seen[count++] = look.last;
        }
        place = &nodes[0]->child[looks.begin()->side_of(nodes[1])];
    }

    // Carries it on to its end. False: a node had changed since it was looked at.
    bool help() {
        for (int i = 0; i < count; ++i) {
            Change *expected = seen[i];
            if (nodes[i]->change.compare_exchange_strong(expected, this) || expected == this)
                continue;
            // Another has claimed the node: after this change was done, or instead of it.
            if (claimed.load()) return true;
            state.store(given_up);
            return false;
        }
        claimed.store(true);
        for (int i = 1; i < count; ++i) nodes[i]->removed.store(true);
        Node *expected = nodes[1]; // a fresh node never was there before, so this succeeds once
        place->compare_exchange_strong(expected, fresh);
        state.store(done);
        return true;
    }
};

// LLX: the children of a node, both at one instant. False: it has left the tree, or a change is
// under way, which is helped to its end; look for the place again.
inline bool look(Node *node, Look &seen) {
    Change *last = node->change.load();
    Change::State state = last == nullptr ? Change::given_up : last->state.load();
    bool removed = node->removed.load(); // after `state`: a change that is done has said it before
    if (state == Change::under_way) {
        last->help();
        return false;
    }
    if (state == Change::done && removed) return false;
    seen = {node, {node->child[0].load(), node->child[1].load()}, last};
    return node->change.load() == last; // a change claims a node before it touches a child
}

} // namespace targets
#endif
