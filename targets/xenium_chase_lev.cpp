// xenium::chase_work_stealing_deque with room for 4.
//
// Guarantee: work-stealing deque with one owner; a steal that loses a race may answer "empty".
// Source: class documentation, which names Chase and Lev, "Dynamic Circular Work-Stealing Deque",
// SPAA 2005.
#include "xenium_chase_lev.hpp"

using Container = xenium::detail::fixed_size_circular_array<int64_t, 4>;
struct Target : targets::XeniumDeque<xenium::policy::container<Container>> {
    static constexpr unsigned capacity = 4;
};
INTERLAP_TARGET(Target)
