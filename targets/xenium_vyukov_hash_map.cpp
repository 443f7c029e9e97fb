// xenium::vyukov_hash_map of integers, growing from the smallest table.
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
