// cds::container::StripedSet of std::list buckets with striped locks.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::StripedSet, which names Herlihy and Shavit, "The
// Art of Multiprocessor Programming", 13.2.2.
// interlap: -lcds
#include <cds/container/striped_set/std_list.h>
#include <cds/container/striped_set.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

using Set = cds::container::StripedSet<std::list<int64_t>, cds::opt::hash<std::hash<int64_t>>,
                                       cds::opt::less<std::less<int64_t>>>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::StripedSet";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
    Target() : CdsSet(2) {}
};
INTERLAP_TARGET(Target)
