// A Chase-Lev deque whose take lacks the sequentially consistent fence.
//
// Bug: nothing keeps take's store of `bottom` before its load of `top` (marked "BUG" below). The
// store waits in the store buffer while a thief still sees the value: both get it.
// Native: yes, on two processors that are free: a thief must steal within that instant, which
// takes some seconds, and more on a busy machine.
// Engine: native, as only a processor's store buffer shows it.
#include "../chase_lev.hpp"

struct Unfenced {
    static void between() {} // BUG: the fence is missing
};
using Target = targets::ChaseLev<Unfenced>;
INTERLAP_TARGET(Target)
