// An augmented tree whose contains looks at the mutable tree.
//
// Bug: contains goes down the mutable tree (marked "BUG" below), where an insert or remove shows at
// once. All other queries see it only when it has arrived at the entry. So a key is there, and then
// is not counted, though nobody removes it.
// Native: yes
#include "../augmented_tree.hpp"

struct MutableFind : targets::AsPublished {
    template <class Tree, class Local> static bool contains(Tree &tree, Local &, int64_t key) {
        const targets::Node *at = &tree.entry;
        while (!at->is_leaf()) at = at->child[at->side(key)].load(); // BUG: ahead of the versions
        return at->key == key;
    }
};
using Target = targets::AugmentedTree<MutableFind>;
INTERLAP_TARGET(Target)
