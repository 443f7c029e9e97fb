// oneapi::tbb::concurrent_unordered_map: insert and find.
//
// Guarantee: linearizable map under insertion and look-up at once. Erasing at once is not allowed
// (unsafe_erase), so it is not called.
// Source: oneTBB specification, [containers.concurrent_unordered_map].
// interlap: -ltbb
#include <oneapi/tbb/concurrent_unordered_map.h>

#include "tbb.hpp"

using Map = oneapi::tbb::concurrent_unordered_map<int64_t, int64_t>;
struct Target : targets::TbbMap<Map> {
    static constexpr auto library = "oneapi::tbb::concurrent_unordered_map";
    static constexpr auto model = "map";
};
INTERLAP_TARGET(Target)
