// An augmented tree whose threads do not wait for those to whom they have left their work.
//
// Bug: a thread whose refreshes have failed twice leaves the rest of the way to the one that was
// faster, and returns before that one has arrived at the entry (marked "BUG" below). So an insert
// or remove has returned, and queries do not see it yet.
// Native: yes, in some seconds
#include "../augmented_tree.hpp"

struct DelegatedOn : targets::Delegating {
    static bool brought_by_another(const targets::Node &node) {
        return node.version.load()->by != nullptr && !node.removed.load(); // BUG: no wait
    }
};
using Target = targets::AugmentedTree<DelegatedOn>;
INTERLAP_TARGET(Target)
