// cds::container::FeldmanHashSet, a tree of arrays, with hazard pointers.
//
// The key is its own hash: the small keys of a round share their upper bits.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::FeldmanHashSet, which names Feldman, LaBorde,
// Dechev, "Concurrent Multi-level Arrays: Wait-free Extensible Hash Maps", SAMOS 2013.
// interlap: -lcds
#include <cds/container/feldman_hashset_hp.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct Traits : cds::container::feldman_hashset::traits {
    struct hash_accessor {
        const int64_t &operator()(const int64_t &key) const { return key; }
    };
};
using Set = cds::container::FeldmanHashSet<cds::gc::HP, int64_t, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::FeldmanHashSet<cds::gc::HP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
    Target() : CdsSet(4, 2) {}
};
INTERLAP_TARGET(Target)
