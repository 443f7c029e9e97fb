// A lock-free balanced tree that counts its keys: a chromatic tree with versions.
//
// Guarantee: linearizable set with counts, ranks and lists of ranges; a query is a snapshot.
// Source: Fatourou and Ruppert, "Lock-Free Augmented Trees", DISC 2024; Wrench, Singh, Roh,
// Fatourou, Jayanti, Ruppert and Wei, "Concurrent Balanced Augmented Trees", PPoPP 2026; the
// mutable tree: Brown, Ellen and Ruppert, "A General Technique for Non-blocking Trees", PPoPP 2014.
#include "augmented_tree.hpp"

using Target = targets::AugmentedTree<targets::AsPublished>;
INTERLAP_TARGET(Target)
