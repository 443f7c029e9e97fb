// cds::container::BronsonAVLTreeMap, a relaxed balanced tree, with user-space RCU: found to hang.
//
// In libcds 2.3.3 try_remove_node (cds/container/impl/bronson_avltree_map_rcu.h:1492) looks whether
// a node has two children before it locks it, and not again: a child may be gone by then, and the
// node, which only loses its value, stays although nothing needs it. Where it is the leftmost,
// extract_min, and with it clear and the destructor, try again for ever. The algorithm of the paper
// looks again under the lock. Once in some hundred thousand rounds.
//
// Guarantee: linearizable map.
// Source: class documentation of cds::container::BronsonAVLTreeMap, which names Bronson, Casper,
// Chafi, Olukotun, "A Practical Concurrent Binary Search Tree", PPoPP 2010.
// interlap: -lcds
#include <cds/urcu/general_buffered.h>
#include <cds/container/bronson_avltree_map_rcu.h>
#include <cds/version.h>
#include <interlap.hpp>

#include "cds_threads.hpp"

using Buffer = cds::container::VyukovMPMCCycleQueue<cds::urcu::epoch_retired_ptr>;
using Rcu = cds::urcu::gc<cds::urcu::general_buffered<Buffer, std::mutex, cds::backoff::yield>>;
struct Traits : cds::container::bronson_avltree::traits {
    using less = std::less<int64_t>;
    using sync_monitor = cds::sync::injecting_monitor<targets::SpinLock>;
};
using Map = cds::container::BronsonAVLTreeMap<Rcu, int64_t, int64_t, Traits>;

struct Target : targets::CdsContainer<Map> {
    static constexpr auto library = "cds::container::BronsonAVLTreeMap<general_buffered RCU>";
    static constexpr auto version = CDS_VERSION_STRING;
    static constexpr auto model = "map";

    bool get(Local &, int64_t key, int64_t &value) {
        return container->find(key, [&](int64_t, int64_t &held) { value = held; });
    }
    bool insert_if_absent(Local &, int64_t key, int64_t value) {
        return container->insert(key, value);
    }
    bool put(Local &, int64_t key, int64_t value) { // false: it was absent
        auto set = [&](bool, int64_t, int64_t &held) { held = value; };
        return !container->update(key, set).second;
    }
    bool remove(Local &, int64_t key) { return container->erase(key); }
};
INTERLAP_TARGET(Target)
