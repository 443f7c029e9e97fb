// xenium::harris_michael_list_based_set with epochs.
//
// Guarantee: linearizable set.
// Source: class documentation, which names Michael, "High Performance Dynamic Lock-Free Hash Tables
// and List-Based Sets", SPAA 2002.
#include "xenium.hpp"

#include <xenium/harris_michael_list_based_set.hpp>

using Set = xenium::harris_michael_list_based_set<int64_t, targets::Epochs>;
struct Target : targets::XeniumSet<Set> {
    static constexpr auto library = "xenium::harris_michael_list_based_set";
    static constexpr auto model = "set";
};
INTERLAP_TARGET(Target)
