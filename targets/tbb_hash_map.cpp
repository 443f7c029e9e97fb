// oneapi::tbb::concurrent_hash_map, with accessors, growing from one bucket.
//
// Guarantee: linearizable map; find, insert and erase may be called at once, and an accessor is a
// lock on its element.
// Source: oneTBB specification, [containers.concurrent_hash_map].
// interlap: -ltbb
#include <interlap.hpp>
#include <oneapi/tbb/concurrent_hash_map.h>
#include <oneapi/tbb/version.h>

struct Target {
    static constexpr auto library = "oneapi::tbb::concurrent_hash_map";
    static constexpr auto version = TBB_VERSION_STRING;
    static constexpr auto model = "map";
    using Map = oneapi::tbb::concurrent_hash_map<int64_t, int64_t>;

    Map map{1};

    bool get(int64_t key, int64_t &value) {
        Map::const_accessor found;
        if (!map.find(found, key)) return false;
        value = found->second;
        return true;
    }
    bool put(int64_t key, int64_t value) { // false: it was absent
        Map::accessor found;
        bool absent = map.insert(found, key);
        found->second = value;
        return !absent;
    }
    bool insert_if_absent(int64_t key, int64_t value) { return map.insert({key, value}); }
    bool remove(int64_t key) { return map.erase(key); }
    bool compare_exchange(int64_t key, int64_t old, int64_t value) {
        Map::accessor found;
        if (!map.find(found, key) || found->second != old) return false;
        found->second = value;
        return true;
    }
};
INTERLAP_TARGET(Target)
