// The bounded ring for two threads, publishing a value before it is written.
//
// Bug: enqueue moves the tail first (marked "BUG" below); a dequeue in between takes the value of
// an earlier turn of the ring, and the new value is lost. (The ring has two slots, so that few
// calls show it.)
// Native: yes
#include "../ring_spsc.hpp"

struct PublishThenWrite {
    static void add(std::atomic<int64_t> &slot, int64_t value, std::atomic<uint64_t> &tail,
                    uint64_t next) {
        tail.store(next, std::memory_order_release); // BUG: before the value is there
        slot.store(value, std::memory_order_relaxed);
    }
};
using Target = targets::RingSpsc<PublishThenWrite, 2>;
INTERLAP_TARGET(Target)
