// A Chase-Lev work-stealing deque: the owner works at one end, thieves steal at the other.
//
// Guarantee: linearizable deque with one owner; a steal that loses a race tries again inside its
// call, so "empty" is exact.
// Source: Chase and Lev, SPAA 2005; Le et al., PPoPP 2013.
#include "chase_lev.hpp"

using Target = targets::ChaseLev<targets::Fenced>;
INTERLAP_TARGET(Target)
