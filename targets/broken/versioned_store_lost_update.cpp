// Transactions that never conflict.
//
// Bug: a commit does not look whether a key that it changes has a version younger than its snapshot
// (marked "BUG" below), so of two transactions that read one version and replace it both commit,
// and the update of the first is lost.
// Native: yes
#include "../versioned_store.hpp"

struct LastCommitterWins {
    static bool may_replace(int64_t, int64_t) { return true; } // BUG: whoever comes last wins
};
using Target = targets::VersionedStore<LastCommitterWins>;
INTERLAP_TARGET(Target)
