// What the targets of xenium's work-stealing deque share.
#ifndef INTERLAP_TARGETS_XENIUM_CHASE_LEV_HPP
#define INTERLAP_TARGETS_XENIUM_CHASE_LEV_HPP

#include <cstddef>
#include <interlap.hpp>
#include <xenium/chase_work_stealing_deque.hpp>

namespace targets {

template <class... Policies> struct XeniumDeque {
    static constexpr auto library = "xenium::chase_work_stealing_deque";
    static constexpr auto model = "deque:empty=lone";

    xenium::chase_work_stealing_deque<int64_t, Policies...> deque;

    // Elements are pointers; these are never followed.
    bool push(int64_t value) { return deque.try_push(reinterpret_cast<int64_t *>(value)); }
    bool take(int64_t &value) {
        int64_t *taken = nullptr;
        bool found = deque.try_pop(taken);
        value = reinterpret_cast<int64_t>(taken);
        return found;
    }
    bool steal(int64_t &value) {
        int64_t *taken = nullptr;
        bool found = deque.try_steal(taken);
        value = reinterpret_cast<int64_t>(taken);
        return found;
    }
};

} // namespace targets
#endif
