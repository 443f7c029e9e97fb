// A Michael-Scott queue whose dequeue does not look at the head again: false "empty".
//
// Bug: line D5 of the paper is missing (marked "BUG" below). Between its reads of `head` and `tail`
// the dummy may be dequeued, used again and become the last node: then `head` and `tail` agree,
// the node has no successor, and dequeue answers "empty" although the queue never was.
// Native: yes, with threads stalled in the middle of calls and phases that enqueue and dequeue in
// turn: others must use the dummy again between two adjacent loads, in a short queue.
#include "../ms_queue.hpp"

struct NotRechecked {
    static constexpr bool recheck = false; // BUG: what was read need not belong together
};
using Target = targets::MsQueue<targets::Tagged, NotRechecked>;
INTERLAP_TARGET(Target)
