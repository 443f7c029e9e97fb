// oneapi::tbb::concurrent_set: insert and contains.
//
// Guarantee: linearizable set under insertion and look-up at once. Erasing at once is not allowed
// (unsafe_erase), so it is not called.
// Source: oneTBB specification, [containers.concurrent_set].
// interlap: -ltbb
#include <oneapi/tbb/concurrent_set.h>

#include "tbb.hpp"

using Set = oneapi::tbb::concurrent_set<int64_t>;
struct Target : targets::TbbSet<Set> {
    static constexpr auto library = "oneapi::tbb::concurrent_set";
    static constexpr auto model = "set";
};
INTERLAP_TARGET(Target)
