// An augmented tree whose rotation hands a version on.
//
// Bug: the new top of a rotation gets the version of the old one (marked "BUG" below), as the same
// keys are below. But the old one may be refreshed between that and the rotation. What arrived at
// it then has been seen by queries, and is taken back by the next refresh of the parent.
// Native: yes
#include "../augmented_tree.hpp"

struct HandedOn : targets::AsPublished {
    static void rotates(targets::Node *fresh, targets::Node *old) {
        fresh->version.store(old->version.load()); // BUG: `old` may yet get another one
    }
};
using Target = targets::AugmentedTree<HandedOn>;
INTERLAP_TARGET(Target)
