// cds::container::MichaelHashSet of Michael lists, in 2 buckets, with hazard pointers.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::MichaelHashSet, which names Michael, "High
// Performance Dynamic Lock-Free Hash Tables and List-Based Sets", SPAA 2002.
// interlap: -lcds
#include <cds/container/michael_list_hp.h>
#include <cds/container/michael_set.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct ListTraits : cds::container::michael_list::traits {
    using less = std::less<int64_t>;
};
using List = cds::container::MichaelList<cds::gc::HP, int64_t, ListTraits>;
struct Traits : cds::container::michael_set::traits {
    using hash = std::hash<int64_t>;
};
using Set = cds::container::MichaelHashSet<cds::gc::HP, List, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::MichaelHashSet<cds::gc::HP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
    Target() : CdsSet(2, 1) {}
};
INTERLAP_TARGET(Target)
