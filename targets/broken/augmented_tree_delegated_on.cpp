// An augmented tree where a thread that was delegated work goes on when it must not.
//
// Bug: a thread goes on upwards from a node that has left the tree (marked "BUG" below): on the way
// up it does not look whether the node that it has refreshed still is the child. What it was to
// bring to the entry, for itself and for those that wait for it, may be below another node by then.
// So an insert or remove has returned, and queries do not see it yet.
// Native: yes, in some seconds
#include "../augmented_tree.hpp"

struct DelegatedOn : targets::Delegating {
    static targets::Node *before(targets::Node &node, int64_t key, const targets::Node *refreshed) {
        targets::Node *child = node.child[node.side(key)].load(); // BUG: it may be another one
        return refreshed != nullptr || child->is_leaf() ? nullptr : child;
    }
};
using Target = targets::AugmentedTree<DelegatedOn>;
INTERLAP_TARGET(Target)
