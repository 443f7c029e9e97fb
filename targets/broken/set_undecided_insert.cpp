// An unordered list as a set whose failed insert returns before it is decided.
//
// Bug: an insert that meets another, undecided insert of its key answers "present" at once, but
// contains does not count an insert before it is decided (marked "BUG" below). So a thread is told
// that the key is present and then that it is not, though nobody removes it.
// Native: yes
#include "../unordered_set.hpp"

struct OnlyDecidedCounts {
    static bool there(uint32_t state) { return state == targets::present; } // BUG: not `inserting`
};
using Target = targets::UnorderedSet<OnlyDecidedCounts>;
INTERLAP_TARGET(Target)
