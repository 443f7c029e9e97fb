// A set that counts a range as the difference of two ranks.
//
// Bug: each rank is right, but the lock is let go between them (marked "BUG" below), so keys that
// come or go below the range are counted in it: there can be more than ever were inside, or fewer
// than none.
// Native: yes
#include "../locked_range_set.hpp"

struct TwoRanks {
    template <class Set> static int64_t count(Set &set, int64_t low, int64_t high) {
        int64_t below = set.rank(low);
        return set.rank(high + 1) - below; // BUG: the set may be another one by now
    }
};
using Target = targets::LockedRangeSet<TwoRanks>;
INTERLAP_TARGET(Target)
