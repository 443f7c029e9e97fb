// A bounded ring for many producers and consumers with exact "empty" and "full".
//
// Guarantee: linearizable bounded FIFO queue.
// Source: argued in ring_mpmc.hpp.
#include "ring_mpmc.hpp"

using Target = targets::RingMpmc<targets::WriteThenPublish>;
INTERLAP_TARGET(Target)
