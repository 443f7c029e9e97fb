// An augmented tree whose insert gives a version its children the wrong way round.
//
// Bug: the version of a new inner node has the new leaf as its left child, whichever key is less
// (marked "BUG" below). The insert makes that version anew when it propagates. But another one that
// comes by before carries the wrong one to the entry: neither of the two keys is found there.
// Native: yes
#include "../augmented_tree.hpp"

struct Swapped : targets::AsPublished {
    template <class Tree, class Local>
    static void joins(Tree &tree, Local &local, targets::Node &inner, const targets::Node &fresh,
                      const targets::Node &old) {
        inner.version.store(tree.joined(local, fresh, old)); // BUG: the new key may be greater
    }
};
using Target = targets::AugmentedTree<Swapped>;
INTERLAP_TARGET(Target)
