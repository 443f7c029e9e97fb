// A Harris-Michael sorted list as a set; contains neither waits nor helps.
//
// Guarantee: linearizable set.
// Source: Harris, "A Pragmatic Implementation of Non-Blocking Linked-Lists", DISC 2001; Michael,
// SPAA 2002; contains: Herlihy and Shavit, "The Art of Multiprocessor Programming", 9.8.
#include "harris_set.hpp"

using Target = targets::HarrisSet<targets::UnmarkedIsPresent>;
INTERLAP_TARGET(Target)
