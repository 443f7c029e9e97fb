// A lock-free balanced tree that counts its keys: a chromatic tree (Brown, Ellen and Ruppert, PPoPP
// 2014), augmented as Fatourou and Ruppert do it (DISC 2024) and, where it is balanced, Wrench and
// others (PPoPP 2026). Written from the papers' descriptions.
//
// Two trees. The mutable one has the keys in its leaves, and says who inserted or removed first.
// Each of its nodes points to a version, an immutable picture of what is below. An insert or remove
// that has found or changed its leaf propagates: from there up to the entry, it makes each node's
// version anew of its children's. Queries look at the version of the entry once, and at what that
// leads to.
//
// Why it is linearizable. An insert or remove has arrived at a node when the node's version first
// was made of a child at which it had arrived, and at a leaf when it changed it or found it. It
// takes effect when it arrives at the entry; those that arrive together, in the order of their
// arrival further down. A query takes effect when it reads the entry's version. It remains that
// each has arrived when it returns, and that nothing that has arrived is lost:
//
// - A refresh reads the node's version first, then those of the children, and swaps. If two in a
//   row fail, another swapped that had begun during the first, and so saw what the children had.
// - A version is used only if it was read while its node was the child. The version of a node that
//   has left the tree may have what its successor does not have yet, which would be taken back.
// - A node that comes into the tree has no version until one is asked for. What had arrived at
//   those that it replaces, had before arrived at the nodes below it, which stay; so it is in the
//   first version that is made of these.
// - The way up may change. After each refresh the parent is asked for its child again; if that is
//   another one, what is below it on the way is refreshed first.
//
// Nodes and versions live until the tree is destroyed.
#ifndef INTERLAP_TARGETS_AUGMENTED_TREE_HPP
#define INTERLAP_TARGETS_AUGMENTED_TREE_HPP

#include <interlap.hpp>
#include <thread>
#include <vector>

#include "arena.hpp"
#include "augmented_tree_nodes.hpp"

namespace targets {

// What is easily done wrong, done right.
struct AsPublished {
    static constexpr bool delegates = false;
    struct Debt {}; // what a thread has put off: nothing

    // A call begins.
    template <class Tree, class Local> static void begin(Tree &, Local &) {}
    // Whether the key is in the set.
    template <class Tree, class Local>
    static bool contains(Tree &tree, Local &local, int64_t key) {
        return tree.snapshot(local)->holds(key);
    }
    // Finds the place of the key. Whether an insert or remove has nothing to do there; it still has
    // to arrive, as what it found may not have arrived yet.
    template <class Tree, class Local, class Place>
    static bool settled(Tree &tree, Local &local, int64_t key, bool there, Place &at) {
        at = tree.place(key);
        if ((at.leaf->key == key) != there) return false;
        tree.propagate(local, key);
        return true;
    }
    // An insert has made an inner node above two new leaves: its first version.
    template <class Tree, class Local>
    static void joins(Tree &tree, Local &local, Node &inner, const Node &fresh, const Node &old) {
        bool low = fresh.key < old.key;
        inner.version.store(low ? tree.joined(local, fresh, old) : tree.joined(local, old, fresh));
    }
    // A version of the node, made of those that its children have now.
    template <class Tree, class Local>
    static const Version *made(Tree &tree, Local &local, Node &node, const Propagation *by) {
        const Version *low = tree.version_below(local, node, 0);
        const Version *high = tree.version_below(local, node, 1);
        return local.versions.make(node.key, low, high, by);
    }
    // The first version of a node that had none. It has another one if somebody was faster.
    static const Version *first(Node &node, const Version *made) {
        const Version *now = nullptr;
        return node.version.compare_exchange_strong(now, made) ? made : now;
    }
    // The child that has to be refreshed before `node`, after `refreshed` was: if that has been
    // replaced, the one in its place.
    static Node *before(Node &node, int64_t key, const Node *refreshed) {
        Node *child = node.child[node.side(key)].load();
        return child == refreshed || child->is_leaf() ? nullptr : child;
    }
    // Two refreshes have failed: whether another has done the rest of the way.
    static bool brought_by_another(const Node &) { return false; }
    // A rotation is about to put `fresh` in the place of `old`.
    static void rotates(Node *, Node *) {}
};

// After two failures a thread leaves the rest to the one that was faster, and waits.
struct Delegating : AsPublished {
    static constexpr bool delegates = true;

    // Two refreshes of `node` have failed, so its version has all that it was to get. Whether the
    // thread that made that version has brought it to the entry; not waiting for ever. Where the
    // node has left the tree, that thread may go on another way than the one who asks.
    static bool brought_by_another(const Node &node) {
        const Propagation *other = node.version.load()->by;
        if (other == nullptr || node.removed.load()) return false;
        for (int turns = 0; turns < 64; ++turns) {
            if (other->arrived.load()) return true;
            std::this_thread::yield();
        }
        return false;
    }
};

// The tree. Keys are less than `above_all`.
template <class Traits> struct AugmentedTree {
    static constexpr auto model = "range-set";
    struct Local {
        typename Arena<Node>::Part nodes;
        typename Arena<Version>::Part versions;
        typename Arena<Change>::Part changes;
        typename Arena<Propagation>::Part propagations;
        std::vector<Node *> path; // from the entry to the node that is refreshed next
        typename Traits::Debt debt;
        Local(AugmentedTree &tree, unsigned)
            : nodes(tree.nodes), versions(tree.versions), changes(tree.changes),
              propagations(tree.propagations) {}
    };

    Arena<Node> nodes;
    Arena<Version> versions;
    Arena<Change> changes;
    Arena<Propagation> propagations;
    // The entry is never replaced. To its left is the tree, whose last leaf holds no key.
    const Version no_key{above_all, 0};
    const Version no_keys{above_all, &no_key, &no_key, nullptr};
    Node last{above_all, 1, nullptr, nullptr, &no_key};
    Node right{above_all, 1, nullptr, nullptr, &no_key};
    Node entry{above_all, 1, &last, &right, &no_keys};

    // Inserts and removes.

    bool insert(Local &local, int64_t key) {
        Traits::begin(*this, local);
        for (;;) {
            Place at;
            if (Traits::settled(*this, local, key, true, at)) return false;
            Look parent, leaf;
            if (!look(at.parent, parent) || !look(at.leaf, leaf)) continue;
            if (parent.side_of(at.leaf) < 0) continue;
            Node *fresh = local.nodes.make(key, 1, nullptr, nullptr, local.versions.make(key, 1));
            Node *old = copy(local, leaf, 1);
            bool low = key < old->key;
            int weight = below(at.parent, at.leaf->weight - 1);
            Node *inner = join(local, low ? old->key : key, weight, low ? 0 : 1, fresh, old);
            Traits::joins(*this, local, *inner, *fresh, *old);
            if (replace(local, {parent, leaf}, inner)) break;
        }
        rebalance(local, key);
        propagate(local, key);
        return true;
    }

    bool remove(Local &local, int64_t key) {
        Traits::begin(*this, local);
        for (;;) {
            Place at;
            if (Traits::settled(*this, local, key, false, at)) return false;
            Look above, parent, child[2];
            if (!look(at.above, above) || !look(at.parent, parent)) continue;
            int side = parent.side_of(at.leaf);
            if (side < 0 || above.side_of(at.parent) < 0) continue;
            if (!look(parent.child[0], child[0]) || !look(parent.child[1], child[1])) continue;
            int weight = below(at.above, at.parent->weight + parent.child[!side]->weight);
            Node *sibling = copy(local, child[!side], weight);
            if (replace(local, {above, parent, child[0], child[1]}, sibling)) break;
        }
        rebalance(local, key);
        propagate(local, key);
        return true;
    }

    // Queries.

    const Version *snapshot(Local &local) {
        Traits::begin(*this, local);
        return entry.version.load();
    }

    bool contains(Local &local, int64_t key) { return Traits::contains(*this, local, key); }
    int64_t range_count(Local &local, int64_t low, int64_t high) {
        const Version *all = snapshot(local);
        return low > high ? 0 : all->count(high, true) - all->count(low, false);
    }
    int64_t rank(Local &local, int64_t key) { return snapshot(local)->count(key, false); }
    int64_t size(Local &local) { return snapshot(local)->size; }
    bool select(Local &local, int64_t n, int64_t &key) { return snapshot(local)->select(n, key); }
    size_t range_list(Local &local, int64_t low, int64_t high, int64_t *keys, size_t most) {
        size_t n = 0;
        snapshot(local)->list(low, high, keys, most, n);
        return n;
    }

    // Versions.

    const Version *joined(Local &local, const Node &low, const Node &high) {
        int64_t key = low.key < high.key ? high.key : low.key;
        return local.versions.make(key, low.version.load(), high.version.load(), nullptr);
    }
    // The version of a child, read while it was the child.
    const Version *version_below(Local &local, Node &node, int side) {
        for (;;) {
            Node *child = node.child[side].load();
            const Version *version = version_of(local, *child);
            if (node.child[side].load() == child) return version;
        }
    }
    // The version of a node, which gets its first one now if it has none.
    const Version *version_of(Local &local, Node &node) {
        const Version *now = node.version.load();
        return now ? now : Traits::first(node, Traits::made(*this, local, node, nullptr));
    }
    // Makes a node's version anew. False: another was faster.
    bool refresh(Local &local, Node &node, const Propagation *by) {
        const Version *old = version_of(local, node);
        const Version *fresh = Traits::made(*this, local, node, by);
        return node.version.compare_exchange_strong(old, fresh);
    }
    void bring_up(Local &local, int64_t key, Propagation *mine) {
        local.path.assign(1, &entry);
        Node *done = nullptr;
        while (!local.path.empty()) {
            Node *node = local.path.back();
            if (Node *first = Traits::before(*node, key, done)) {
                local.path.push_back(first);
                continue;
            }
            if (!refresh(local, *node, mine) && !refresh(local, *node, mine) &&
                Traits::brought_by_another(*node))
                return;
            done = node;
            local.path.pop_back();
        }
    }
    // Until what was done or found at the leaf of `key` has arrived at the entry.
    void propagate(Local &local, int64_t key) {
        if constexpr (Traits::delegates) {
            Propagation *mine = local.propagations.make();
            bring_up(local, key, mine);
            mine->arrived.store(true);
        } else {
            bring_up(local, key, nullptr);
        }
    }

    // Changes of the mutable tree.

    // The leaf that a key leads to, and the two nodes above it, of which each was the child of the
    // other when it was read.
    struct Place {
        Node *above, *parent, *leaf;
    };
    Place place(int64_t key) {
        Place at{nullptr, &entry, entry.child[0].load()};
        while (!at.leaf->is_leaf())
            at = {at.parent, at.leaf, at.leaf->child[at.leaf->side(key)].load()};
        return at;
    }
    // SCX: replaces the second of these nodes and all after it by `fresh`, if they are as seen.
    bool replace(Local &local, std::initializer_list<Look> looks, Node *fresh) {
        return local.changes.make(looks, fresh)->help();
    }
    // The topmost node is black: that adds as much to all ways down.
    int below(const Node *parent, int weight) const { return parent == &entry ? 1 : weight; }
    Node *join(Local &local, int64_t key, int weight, int side, Node *one, Node *other) {
        Node *low = side == 0 ? one : other, *high = side == 0 ? other : one;
        return local.nodes.make(key, weight, low, high, nullptr);
    }
    Node *copy(Local &local, const Look &of, int weight) {
        const Version *first = of.is_leaf() ? of.node->version.load() : nullptr;
        return local.nodes.make(of.node->key, weight, of.child[0], of.child[1], first);
    }

    // Rebalancing, with fewer kinds of steps than the paper has. All leaves have the same sum of
    // weights above them, and each step keeps that. Wrong are a red node below a red one, and a
    // node that is too heavy. Whoever caused it removes what is wrong on the way to its key, from
    // above. Each step resolves it, moves it up, or brings it where the next step resolves it.
    void rebalance(Local &local, int64_t key) {
        Node *great = nullptr, *grand = nullptr, *parent = &entry;
        Node *node = entry.child[0].load();
        for (;;) {
            bool heavy = node->weight > 1, red = parent->weight == 0 && node->weight == 0;
            if (heavy) make_lighter(local, great, grand, parent, node);
            if (red) part_reds(local, great, grand, parent, node);
            if (!heavy && !red && node->is_leaf()) return;
            if (heavy || red) {
                great = grand = nullptr;
                parent = &entry;
                node = entry.child[0].load();
                continue;
            }
            great = grand;
            grand = parent;
            parent = node;
            node = node->child[node->side(key)].load();
        }
    }

    void rotate(Local &local, std::initializer_list<Look> looks, Node *fresh) {
        Traits::rotates(fresh, looks.begin()[1].node);
        replace(local, looks, fresh);
    }

    // `parent` and its child `node` are red, `grand` is not.
    void part_reds(Local &local, Node *great, Node *grand, Node *parent, Node *node) {
        Look a, g, p, n;
        if (!look(great, a) || !look(grand, g)) return;
        int side = g.side_of(parent);
        if (side < 0 || a.side_of(grand) < 0) return;
        Node *uncle = g.child[!side];
        if (uncle->weight == 0) { // both children of `grand` become black instead of it
            Look c[2];
            if (!look(g.child[0], c[0]) || !look(g.child[1], c[1])) return;
            int weight = below(great, grand->weight - 1);
            Node *low = copy(local, c[0], 1), *high = copy(local, c[1], 1);
            replace(local, {a, g, c[0], c[1]}, join(local, grand->key, weight, 0, low, high));
            return;
        }
        if (!look(parent, p) || p.side_of(node) < 0) return;
        if (p.side_of(node) == side) {
            Node *down = join(local, grand->key, 0, side, p.child[!side], uncle);
            rotate(local, {a, g, p}, join(local, parent->key, grand->weight, side, node, down));
        } else {
            if (!look(node, n)) return;
            Node *near = join(local, parent->key, 0, side, p.child[side], n.child[side]);
            Node *far = join(local, grand->key, 0, side, n.child[!side], uncle);
            rotate(local, {a, g, p, n}, join(local, node->key, grand->weight, side, near, far));
        }
    }

    // `node` is too heavy.
    void make_lighter(Local &local, Node *great, Node *grand, Node *parent, Node *node) {
        Look g, p, c[2], f;
        if (!look(grand, g) || !look(parent, p)) return;
        int side = p.side_of(node);
        if (side < 0 || g.side_of(parent) < 0) return;
        Node *sibling = p.child[!side];
        if (sibling->weight == 0) return make_sibling_black(local, great, g, p, side);
        if (!look(p.child[0], c[0]) || !look(p.child[1], c[1])) return;
        const Look &s = c[!side];
        if (sibling->weight == 1 && s.is_leaf()) return; // not at one instant: sums would differ
        Node *near = s.child[side], *far = s.child[!side];
        Node *light = copy(local, c[side], node->weight - 1);
        if (sibling->weight > 1 || (near->weight > 0 && far->weight > 0)) { // `parent` takes it
            Node *other = copy(local, s, sibling->weight - 1);
            int weight = below(grand, parent->weight + 1);
            replace(local, {g, p, c[0], c[1]},
                    join(local, parent->key, weight, side, light, other));
        } else if (far->weight == 0) {
            if (!look(far, f)) return;
            Node *down = join(local, parent->key, 1, side, light, near);
            Node *black = copy(local, f, 1);
            rotate(local, {g, p, c[0], c[1], f},
                   join(local, sibling->key, parent->weight, side, down, black));
        } else {
            if (!look(near, f)) return;
            Node *down = join(local, parent->key, 1, side, light, f.child[side]);
            Node *other = join(local, sibling->key, 1, side, f.child[!side], far);
            rotate(local, {g, p, c[0], c[1], f},
                   join(local, near->key, parent->weight, side, down, other));
        }
    }

    // The child of `p` on this side is too heavy, the other one is red: a rotation gives it a
    // sibling that is not. Before, it parts the red one from other red ones.
    void make_sibling_black(Local &local, Node *great, const Look &g, const Look &p, int side) {
        Node *grand = g.node, *parent = p.node, *sibling = p.child[!side];
        if (parent->weight == 0) return part_reds(local, great, grand, parent, sibling);
        Look s;
        if (!look(sibling, s) || s.is_leaf()) return;
        Node *near = s.child[side];
        if (near->weight == 0) return part_reds(local, grand, parent, sibling, near);
        Node *down = join(local, parent->key, 0, side, p.child[side], near);
        rotate(local, {g, p, s},
               join(local, sibling->key, parent->weight, side, down, s.child[!side]));
    }
};

} // namespace targets
#endif
