// cds::container::SkipListSet with hazard pointers.
//
// Without contains: in version 2.3.3 it may answer "present" for a key whose removal has returned.
// Its fast path (find_fastpath in cds/intrusive/impl/skip_list.h) looks at the mark of the link it
// follows, which tells whether the predecessor is removed, and not at the found node's own. To see
// it: interlap fuzz cds_skiplist_set --cflag -DWITH_CONTAINS
//
// The tower heights are drawn by our own generator: the library's are seeded from the clock, and a
// round must be the same when it is run again.
// Guarantee: linearizable insert and remove.
// Source: class documentation of cds::container::SkipListSet; Herlihy and Shavit, "The Art of
// Multiprocessor Programming", 14.4.
// interlap: -lcds
#include <cds/container/skip_list_set_hp.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

class Heights {
    std::atomic<uint64_t> drawn{0};

public:
    static const unsigned c_nUpperBound = 8;
    unsigned operator()() {
        uint64_t x = drawn.fetch_add(1, std::memory_order_relaxed) + 1;
        x *= 0x9e3779b97f4a7c15u;
        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9u;
        // The number of trailing ones of a random word: half of the towers have height 0.
        return __builtin_ctzll(~(x >> 32) | (1u << (c_nUpperBound - 1)));
    }
};

struct Traits : cds::container::skip_list::traits {
    using less = std::less<int64_t>;
    using random_level_generator = Heights;
};
using SkipList = cds::container::SkipListSet<cds::gc::HP, int64_t, Traits>;

struct Target : targets::CdsSet<SkipList> {
    static constexpr auto library = "cds::container::SkipListSet<cds::gc::HP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
#ifndef WITH_CONTAINS
    bool contains(Local &, int64_t) = delete;
#endif
};
INTERLAP_TARGET(Target)
