// cds::container::SplitListSet of a Michael list, with hazard pointers.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::SplitListSet, which names Shalev and Shavit,
// "Split-Ordered Lists: Lock-Free Extensible Hash Tables", PODC 2003.
// interlap: -lcds
#include <cds/container/michael_list_hp.h>
#include <cds/container/split_list_set.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct Traits : cds::container::split_list::traits {
    using ordered_list = cds::container::michael_list_tag;
    using hash = std::hash<int64_t>;
    struct ordered_list_traits : cds::container::michael_list::traits {
        using less = std::less<int64_t>;
    };
};
using Set = cds::container::SplitListSet<cds::gc::HP, int64_t, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::SplitListSet<cds::gc::HP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
    Target() : CdsSet(16, 1) {}
};
INTERLAP_TARGET(Target)
