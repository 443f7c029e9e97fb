// xenium::chase_work_stealing_deque, growing from room for 2: found to lose values.
//
// Version 0.0.2 puts elements in the wrong places when it grows: grow in
// xenium/detail/growing_circular_array.hpp computes the new index of an element by % new_mod_mask
// instead of & new_mod_mask. With its default capacity of 128 one thread sees it too: push and
// steal 128 times, then push 129 values and steal them.
//
// Guarantee: work-stealing deque with one owner; a steal that loses a race may answer "empty".
// Source: class documentation, which names Chase and Lev, "Dynamic Circular Work-Stealing Deque",
// SPAA 2005.
#include "xenium_chase_lev.hpp"

struct Target : targets::XeniumDeque<xenium::policy::capacity<2>> {
    static constexpr unsigned block_size = 2;
};
INTERLAP_TARGET(Target)
