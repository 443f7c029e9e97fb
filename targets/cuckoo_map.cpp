// libcuckoo::cuckoohash_map, growing from the smallest table.
//
// Guarantee: linearizable map; every operation holds the locks of the buckets of its key.
// Source: class documentation of cuckoohash_map (libcuckoo/cuckoohash_map.hh); Li, Andersen,
// Kaminsky, Freedman, "Algorithmic Improvements for Fast Concurrent Cuckoo Hashing", EuroSys 2014.
// Race: *::maybe_resize_locks the list of locks grows while others read where its last element is.
#include <interlap.hpp>
#include <libcuckoo/cuckoohash_map.hh>

struct Target {
    static constexpr auto library = "libcuckoo::cuckoohash_map";
    static constexpr auto model = "map";
    using Map = libcuckoo::cuckoohash_map<int64_t, int64_t>;

    Map map{1};

    // An insert that finds no place in a table that others empty would throw load_factor_too_low,
    // as documented.
    Target() { map.minimum_load_factor(0); }

    bool get(int64_t key, int64_t &value) { return map.find(key, value); }
    bool put(int64_t key, int64_t value) { return !map.insert_or_assign(key, value); }
    bool insert_if_absent(int64_t key, int64_t value) { return map.insert(key, value); }
    bool remove(int64_t key) { return map.erase(key); }
    bool compare_exchange(int64_t key, int64_t old, int64_t value) {
        bool equal = false;
        map.update_fn(key, [&](int64_t &held) {
            equal = held == old;
            if (equal) held = value;
        });
        return equal;
    }
};
INTERLAP_TARGET(Target)
