// An augmented tree whose contains sees what is yet to come.
//
// Bug: contains starts at the topmost node instead of the entry (marked "BUG" below). An insert or
// remove takes effect when it arrives at the entry, and has arrived at that node a little earlier.
// So a key is found, and then is not counted, though nobody removes it.
// Native: yes
#include "../augmented_tree.hpp"

struct FromTheTop : targets::AsPublished {
    template <class Tree, class Local>
    static bool contains(Tree &tree, Local &local, int64_t key) {
        targets::Node *top = tree.entry.child[0].load();
        return tree.version_of(local, *top)->holds(key); // BUG: the entry need not have that yet
    }
};
using Target = targets::AugmentedTree<FromTheTop>;
INTERLAP_TARGET(Target)
