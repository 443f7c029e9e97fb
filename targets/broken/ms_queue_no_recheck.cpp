// A Michael-Scott queue whose dequeue does not look at the head again: false "empty".
//
// Bug: line D5 of the paper is missing (marked "BUG" below). Between its reads of `head` and `tail`
// the dummy may be dequeued, used again and become the last node: then `head` and `tail` agree,
// the node has no successor, and dequeue answers "empty" although the queue never was.
// Native: no, not with random calls: others must use the dummy again between two adjacent loads,
// and it takes a queue that stays short but never is empty (each thread enqueues and dequeues in
// turn: then within a second).
#include "../ms_queue.hpp"

struct NotRechecked {
    static constexpr bool recheck = false; // BUG: what was read need not belong together
};
using Target = targets::MsQueue<targets::Tagged, NotRechecked>;
INTERLAP_TARGET(Target)
