// cds::container::CuckooSet with striped locks, growing from 4 buckets.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::CuckooSet, which names Herlihy, Shavit, Tzafrir,
// "Concurrent Cuckoo Hashing", 2007.
// interlap: -lcds
#include <cstring>
#include <cds/container/cuckoo_set.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct First {
    size_t operator()(int64_t key) const { return static_cast<size_t>(key); }
};
struct Second {
    size_t operator()(int64_t key) const {
        return static_cast<size_t>(key) * 0x9e3779b97f4a7c15u >> 32;
    }
};
struct Traits : cds::container::cuckoo::traits {
    using equal_to = std::equal_to<int64_t>;
    using hash = cds::opt::hash_tuple<First, Second>;
};
using Set = cds::container::CuckooSet<int64_t, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::CuckooSet";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
    Target() : CdsSet(4, 2) {}
};
INTERLAP_TARGET(Target)
