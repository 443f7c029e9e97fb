// A Michael-Scott queue without tags: ABA.
//
// Bug: the words compare only the index of a node. A stale compare-and-swap then succeeds on a node
// that has been dequeued and used again, which links values to the wrong place, loses or doubles
// them, or ties the list into a knot that an enqueue never leaves (marked "BUG" below).
// Native: yes
#include "../ms_queue.hpp"

struct Untagged {
    static uint64_t moved(uint64_t, uint32_t index) { return index; } // BUG: the tag stays 0
};
using Target = targets::MsQueue<Untagged>;
INTERLAP_TARGET(Target)
