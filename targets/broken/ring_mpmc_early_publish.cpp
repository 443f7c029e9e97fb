// The bounded ring for many threads, publishing a slot before its value is written.
//
// Bug: fill raises the slot's turn first (marked "BUG" below); a dequeue in between takes the value
// of an earlier turn of the ring, and the new value is lost. (The ring has two slots, so that few
// calls show it.)
// Native: yes
#include "../ring_mpmc.hpp"

struct PublishThenWrite {
    template <class Slot> static void fill(Slot &slot, int64_t value, uint64_t at) {
        slot.turn.store(at + 1, std::memory_order_release); // BUG: before the value is there
        slot.value.store(value, std::memory_order_relaxed);
    }
};
using Target = targets::RingMpmc<PublishThenWrite, 2>;
INTERLAP_TARGET(Target)
