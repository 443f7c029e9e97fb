// A lock-free balanced tree that counts its keys, whose threads leave the way up to each other.
//
// Guarantee: linearizable set with counts, ranks and lists of ranges; a query is a snapshot.
// Source: Wrench, Singh, Roh, Fatourou, Jayanti, Ruppert and Wei, "Concurrent Balanced Augmented
// Trees", PPoPP 2026 (BAT-Del): after two failures a thread waits for the one that was faster.
#include "augmented_tree.hpp"

using Target = targets::AugmentedTree<targets::Delegating>;
INTERLAP_TARGET(Target)
