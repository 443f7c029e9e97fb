// What the xenium targets share: reclamation schemes, and how containers become targets. Included
// before the headers of xenium, some of which lack includes of their own (<cassert>, <stdexcept>).
#ifndef INTERLAP_TARGETS_XENIUM_HPP
#define INTERLAP_TARGETS_XENIUM_HPP

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <interlap.hpp>
#include <stdexcept>
#include <xenium/policy.hpp>
#include <xenium/reclamation/generic_epoch_based.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>

namespace targets {

using Epochs = xenium::policy::reclaimer<xenium::reclamation::epoch_based<>>;
using HazardPointers = xenium::policy::reclaimer<xenium::reclamation::hazard_pointer<>::with<
    xenium::policy::allocation_strategy<xenium::reclamation::hp_allocation::dynamic_strategy<3>>>>;

template <class Queue> struct XeniumQueue {
    Queue queue;

    void enqueue(int64_t value) { queue.push(static_cast<typename Queue::value_type>(value)); }
    bool dequeue(int64_t &value) {
        typename Queue::value_type taken;
        if (!queue.try_pop(taken)) return false;
        value = static_cast<int64_t>(taken);
        return true;
    }
};

template <class Set> struct XeniumSet {
    Set set;

    bool insert(int64_t key) { return set.emplace(key); }
    bool remove(int64_t key) { return set.erase(key); }
    bool contains(int64_t key) { return set.contains(key); }
};

template <class Map> struct XeniumMap {
    Map map;

    bool get(int64_t key, int64_t &value) {
        auto found = map.find(key);
        if (found == map.end()) return false;
        value = found->second;
        return true;
    }
    bool insert_if_absent(int64_t key, int64_t value) { return map.emplace(key, value); }
    bool remove(int64_t key) { return map.erase(key); }
};

} // namespace targets
#endif
