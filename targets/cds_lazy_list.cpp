// cds::container::LazyList with hazard pointers.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::LazyList, which names Heller, Herlihy, Luchangco,
// Moir, Scherer, Shavit, "A Lazy Concurrent List-Based Set Algorithm", OPODIS 2005.
// interlap: -lcds
#include <cds/container/lazy_list_hp.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct Traits : cds::container::lazy_list::traits {
    using less = std::less<int64_t>;
    using lock_type = targets::SpinLock;
    using back_off = cds::backoff::yield;
};
using Set = cds::container::LazyList<cds::gc::HP, int64_t, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::LazyList<cds::gc::HP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
};
INTERLAP_TARGET(Target)
