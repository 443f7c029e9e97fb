// xenium::vyukov_hash_map of integers, growing from the smallest table: found to hold a key twice
// and to answer the value of another key, where memory is weaker than x86's.
//
// In version 0.0.2 an emplace that finds its key, an erase that does not and an emplace that grows
// the table give the lock of the bucket up by a relaxed store (251, 271, 417 and 608 in
// impl/vyukov_hash_map.hpp). In C++20 that ends the release sequence of the one who had the lock
// before: who takes it next need not see what was put into the bucket. Releases there mend it.
// They do not mend this: try_get_value reads a key by a relaxed load. It may be one that an erase
// has just moved to this place, and nothing makes the value that was moved with it visible.
// x86 does not show either. To see it: interlap fuzz xenium_vyukov_hash_map
//
// Guarantee: linearizable map; emplace and erase lock a bucket, try_get_value is lock-free.
// Source: class documentation of xenium::vyukov_hash_map.
#include "xenium.hpp"

#include <xenium/vyukov_hash_map.hpp>

struct Target {
    static constexpr auto library = "xenium::vyukov_hash_map";
    static constexpr auto model = "map";
    using Map = xenium::vyukov_hash_map<int64_t, int64_t, targets::Epochs>;

    Map map{1};

    bool get(int64_t key, int64_t &value) {
        Map::accessor found;
        if (!map.try_get_value(key, found)) return false;
        value = *found;
        return true;
    }
    bool insert_if_absent(int64_t key, int64_t value) { return map.emplace(key, value); }
    bool remove(int64_t key) { return map.erase(key); }
};
INTERLAP_TARGET(Target)
