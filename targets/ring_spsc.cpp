// A bounded ring for one producer and one consumer.
//
// Guarantee: linearizable bounded FIFO queue for one producer and one consumer.
// Source: Lamport, "Proving the Correctness of Multiprocess Programs", 1977; argued in
// ring_spsc.hpp.
#include "ring_spsc.hpp"

using Target = targets::RingSpsc<targets::WriteThenPublish>;
INTERLAP_TARGET(Target)
