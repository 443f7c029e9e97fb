// A Harris-Michael set whose contains takes a removed node for a present one.
//
// Bug: contains does not look at the mark (marked "BUG" below). A remove that loses the race for
// unlinking leaves its node in the list for others to unlink; until then contains still finds it.
// Native: yes
#include "../harris_set.hpp"

struct LinkedIsPresent {
    static bool present(uintptr_t) { return true; } // BUG: linked, but perhaps removed
};
using Target = targets::HarrisSet<LinkedIsPresent>;
INTERLAP_TARGET(Target)
