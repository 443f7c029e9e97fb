// A Chase-Lev deque whose take lacks the sequentially consistent fence.
//
// Bug: nothing keeps take's store of `bottom` before its load of `top` (marked "BUG" below). The
// store waits in the store buffer while a thief still sees the value: both get it.
// Native: yes, on two processors that are free: a thief must steal within that instant, which
// takes some seconds, and more on a busy machine.
// Controlled: yes, in rounds with store buffers (--memory-model).
#include "../chase_lev.hpp"

struct Unfenced {
    static void claim(std::atomic<int64_t> &bottom, int64_t b) {
        bottom.store(b, std::memory_order_relaxed); // BUG: the fence behind it is missing
    }
};
using Target = targets::ChaseLev<Unfenced>;
INTERLAP_TARGET(Target)
