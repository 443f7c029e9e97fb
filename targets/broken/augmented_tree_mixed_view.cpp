// An augmented tree where a node's version and what a thread has seen of the node do not belong
// together.
//
// Bug: a thread that sees a node without a version makes the first one, and stores it although the
// node may have got one since (marked "BUG" below). What has arrived at the node by then is taken
// back; where it was brought to the entry before, it was seen, and is not there any more.
// Native: yes, in some seconds
#include "../augmented_tree.hpp"

struct SeenWithout : targets::AsPublished {
    static const targets::Version *first(targets::Node &node, const targets::Version *made) {
        node.version.store(made); // BUG: the node may have got another one
        return made;
    }
};
using Target = targets::AugmentedTree<SeenWithout>;
INTERLAP_TARGET(Target)
