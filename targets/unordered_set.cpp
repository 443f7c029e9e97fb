// An unordered list as a set: operations line up at the front and are decided afterwards.
//
// Guarantee: linearizable set.
// Source: Zhang, Zhao, Yang, Liu, Spear, "Practical Non-blocking Unordered Lists", DISC 2013,
// section 3.
#include "unordered_set.hpp"

using Target = targets::UnorderedSet<targets::UndecidedCounts>;
INTERLAP_TARGET(Target)
