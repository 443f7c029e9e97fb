// A Michael-Scott queue with tagged words; its nodes are used again at once.
//
// Guarantee: linearizable FIFO queue.
// Source: Michael and Scott, "Simple, Fast, and Practical Non-Blocking and Blocking Concurrent
// Queue Algorithms", PODC 1996, section 3.
#include "ms_queue.hpp"

using Target = targets::MsQueue<targets::Tagged>;
INTERLAP_TARGET(Target)
