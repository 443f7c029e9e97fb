// A Treiber stack without tags: ABA.
//
// Bug: pop compares only the index of the top node. If others pop it, pop the next one and push the
// first again between the read of `next` and the compare-and-swap, the swap succeeds and puts a
// node on top that is not in the stack any more (marked "BUG" below).
// Native: yes, with three threads or more that stay busy.
#include "../treiber_stack.hpp"

struct Untagged {
    static uint64_t moved(uint64_t, uint32_t index) { return index; } // BUG: the tag stays 0
};
using Target = targets::TreiberStack<Untagged>;
INTERLAP_TARGET(Target)
