// A Treiber stack with tagged words; its nodes are used again at once.
//
// Guarantee: linearizable stack.
// Source: Treiber, "Systems Programming: Coping with Parallelism", 1986; the tag is the counter of
// IBM System/370's free lists.
#include "treiber_stack.hpp"

using Target = targets::TreiberStack<targets::Tagged>;
INTERLAP_TARGET(Target)
