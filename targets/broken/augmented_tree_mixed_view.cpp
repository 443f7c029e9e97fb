// An augmented tree whose versions count other children than they point to.
//
// Bug: a refresh reads each child's version twice, once to count the keys, and again for the new
// version to point to (marked "BUG" below). If an insert or remove arrives at the child in between,
// the size of the new version and what is below it do not belong together: a key is found, and then
// is not counted. The next refresh of the node sets it right.
// Native: yes
#include "../augmented_tree.hpp"

struct ReadTwice : targets::AsPublished {
    template <class Tree, class Local>
    static const targets::Version *made(Tree &tree, Local &local, targets::Node &node,
                                        const targets::Propagation *by) {
        const targets::Version *below[2];
        int64_t size = 0;
        for (int side : {0, 1}) {
            size += tree.version_below(local, node, side)->size;
            below[side] = tree.version_below(local, node, side); // BUG: it may have changed
        }
        return local.versions.make(node.key, size, below[0], below[1], by);
    }
};
using Target = targets::AugmentedTree<ReadTwice>;
INTERLAP_TARGET(Target)
