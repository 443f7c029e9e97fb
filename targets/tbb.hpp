// What the oneTBB sets and maps share. They have no erase that may be called at once with others
// (unsafe_erase may not), so keys only ever come.
#ifndef INTERLAP_TARGETS_TBB_HPP
#define INTERLAP_TARGETS_TBB_HPP

#include <interlap.hpp>
#include <oneapi/tbb/version.h>

namespace targets {

template <class Set> struct TbbSet {
    static constexpr auto version = TBB_VERSION_STRING;

    Set set;

    bool insert(int64_t key) { return set.insert(key).second; }
    bool contains(int64_t key) { return set.contains(key); }
};

template <class Map> struct TbbMap {
    static constexpr auto version = TBB_VERSION_STRING;

    Map map;

    bool get(int64_t key, int64_t &value) {
        auto found = map.find(key);
        if (found == map.end()) return false;
        value = found->second;
        return true;
    }
    bool insert_if_absent(int64_t key, int64_t value) { return map.insert({key, value}).second; }
};

} // namespace targets
#endif
