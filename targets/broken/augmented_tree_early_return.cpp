// An augmented tree whose insert and remove return early where there was nothing to do.
//
// Bug: an insert that finds its key, and a remove that does not, return before they have arrived at
// the entry (marked "BUG" below); the thread's next call makes up for it. What they found may be
// the work of another that has not arrived either. So a thread is told that a key is there, and
// another, that asks later, that it is not. It is still sequentially consistent: each thread's own
// calls take effect in their order.
// Native: no
#include "../augmented_tree.hpp"

struct EarlyReturn : targets::AsPublished {
    struct Debt {
        bool any = false;
        int64_t key = 0;
    };
    template <class Tree, class Local, class Place>
    static bool settled(Tree &tree, Local &local, int64_t key, bool there, Place &at) {
        at = tree.place(key); // BUG: the call returns although that may not have arrived yet
        if ((at.leaf->key == key) != there) return false;
        local.debt = {true, key};
        return true;
    }
    template <class Tree, class Local> static void begin(Tree &tree, Local &local) {
        if (local.debt.any) tree.propagate(local, local.debt.key);
        local.debt.any = false;
    }
};
using Target = targets::AugmentedTree<EarlyReturn>;
INTERLAP_TARGET(Target)
