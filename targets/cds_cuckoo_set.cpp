// cds::container::CuckooSet with striped locks, growing from 4 buckets: found to deadlock.
//
// In version 2.3.3 two inserts that relocate at once may wait for each other. relocate in
// cds/intrusive/cuckoo_set.h holds the two locks of one key's cells and then takes those of
// another's with scoped_cell_trylock, which only tries the first; for the second it waits, holding
// three. Thread 0 holds lock y of the second array and waits for z, thread 1 the other way round.
// cuckoo::refinable has the same in try_second_acquire. To see it:
// interlap fuzz cds_cuckoo_set --engine controlled
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
