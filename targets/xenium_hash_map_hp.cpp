// xenium::harris_michael_hash_map with hazard pointers, in 2 buckets.
//
// Guarantee: linearizable map.
// Source: class documentation, which names Michael, "High Performance Dynamic Lock-Free Hash Tables
// and List-Based Sets", SPAA 2002.
#include "xenium.hpp"

#include <xenium/harris_michael_hash_map.hpp>

using Map = xenium::harris_michael_hash_map<int64_t, int64_t, targets::HazardPointers,
                                            xenium::policy::buckets<2>>;
struct Target : targets::XeniumMap<Map> {
    static constexpr auto library = "xenium::harris_michael_hash_map";
    static constexpr auto model = "map";
};
INTERLAP_TARGET(Target)
