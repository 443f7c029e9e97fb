// A sorted array under one lock that readers share.
//
// Guarantee: linearizable set with counts, ranks and lists of ranges; every operation holds the
// lock throughout.
// Source: argued in locked_range_set.hpp.
#include "locked_range_set.hpp"

using Target = targets::LockedRangeSet<targets::UnderOneLock>;
INTERLAP_TARGET(Target)
