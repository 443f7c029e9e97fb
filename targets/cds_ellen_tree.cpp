// cds::container::EllenBinTreeSet, an unbalanced leaf-oriented tree with hazard pointers.
//
// Guarantee: linearizable set.
// Source: class documentation of cds::container::EllenBinTreeSet, which names Ellen, Fatourou,
// Ruppert, van Breugel, "Non-blocking Binary Search Trees", PODC 2010.
// interlap: -lcds
#include <cds/container/ellen_bintree_set_hp.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

struct Traits : cds::container::ellen_bintree::traits {
    using less = std::less<int64_t>;
    struct key_extractor {
        void operator()(int64_t &key, const int64_t &value) const { key = value; }
    };
};
using Tree = cds::container::EllenBinTreeSet<cds::gc::HP, int64_t, int64_t, Traits>;

struct Target : targets::CdsSet<Tree> {
    static constexpr auto library = "cds::container::EllenBinTreeSet<cds::gc::HP>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "set";
};
INTERLAP_TARGET(Target)
