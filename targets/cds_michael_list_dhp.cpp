// cds::container::MichaelList with dynamic hazard pointers.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::MichaelList, which names Michael, "High
// Performance Dynamic Lock-Free Hash Tables and List-Based Sets", SPAA 2002.
// interlap: -lcds
#include <cds/container/michael_list_dhp.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct Traits : cds::container::michael_list::traits {
    using less = std::less<int64_t>;
};
using Set = cds::container::MichaelList<cds::gc::DHP, int64_t, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::MichaelList<cds::gc::DHP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
};
INTERLAP_TARGET(Target)
