// xenium::michael_scott_queue with epochs.
//
// Guarantee: linearizable FIFO queue.
// Source: class documentation, which names Michael and Scott, "Simple, Fast, and Practical Non-
// Blocking and Blocking Concurrent Queue Algorithms", PODC 1996.
#include "xenium.hpp"

#include <xenium/michael_scott_queue.hpp>

using Queue = xenium::michael_scott_queue<int64_t, targets::Epochs>;
struct Target : targets::XeniumQueue<Queue> {
    static constexpr auto library = "xenium::michael_scott_queue";
    static constexpr auto model = "fifo";
};
INTERLAP_TARGET(Target)
