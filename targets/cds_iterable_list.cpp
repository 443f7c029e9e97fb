// cds::container::IterableList with hazard pointers: found to hold a key twice.
//
// In version 2.3.3 insert may reuse a node that a removal has left empty. link_data in
// cds/intrusive/impl/iterable_list.h marks that node and the next one, and looks by find_prev
// whether it is still the place for the key; but find_prev goes through the list step by step. It
// may pass the head before another thread inserts the same key there, and reach the node behind
// that one when what was in it has been removed: it then sees nothing, and both inserts answer
// true. Seen in some 100,000 rounds: interlap fuzz cds_iterable_list --engine controlled --keys 3
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::IterableList, an ordered list of unique keys.
// interlap: -lcds
#include <cds/container/iterable_list_hp.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct Traits : cds::container::iterable_list::traits {
    using less = std::less<int64_t>;
};
using Set = cds::container::IterableList<cds::gc::HP, int64_t, Traits>;

struct Target : targets::CdsSet<Set> {
    static constexpr auto library = "cds::container::IterableList<cds::gc::HP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
};
INTERLAP_TARGET(Target)
