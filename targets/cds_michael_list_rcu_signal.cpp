// cds::container::MichaelList with user-space RCU that signals its readers (signal_buffered).
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::MichaelList, which names Michael, "High
// Performance Dynamic Lock-Free Hash Tables and List-Based Sets", SPAA 2002.
// interlap: -lcds
#include <cds/urcu/signal_buffered.h>
#include <cds/container/michael_list_rcu.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

using Rcu = cds::urcu::gc<cds::urcu::signal_buffered<>>;
struct Traits : cds::container::michael_list::traits {
    using less = std::less<int64_t>;
};
using Set = cds::container::MichaelList<Rcu, int64_t, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::MichaelList<signal_buffered RCU>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
};
INTERLAP_TARGET(Target)
