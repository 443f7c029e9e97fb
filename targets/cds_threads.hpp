// Life support for libcds structures with hazard pointers: the library is started once in a
// process, and every thread that touches a structure must be attached to it meanwhile.
#ifndef INTERLAP_TARGETS_CDS_THREADS_HPP
#define INTERLAP_TARGETS_CDS_THREADS_HPP

#include <cds/gc/hp.h>
#include <cds/init.h>

namespace targets {

// Starts libcds, for good: threads may still be attached when the process ends.
inline void start_cds(size_t hazard_pointers) {
    static const auto *collector = [hazard_pointers] {
        cds::Initialize();
        // 64 threads that call, one that drains, one that creates and destroys, and some room.
        const size_t thread_max = 72;
        return new cds::gc::HP(hazard_pointers, thread_max);
    }();
    (void)collector;
}

// Attaches the current thread while it lives, unless the thread is attached already: one thread
// may create the structure, call it and drain it.
class Attached {
    bool ours = !cds::threading::Manager::isThreadAttached();

public:
    Attached() {
        if (ours) cds::threading::Manager::attachThread();
    }
    ~Attached() {
        if (ours) cds::threading::Manager::detachThread();
    }
    Attached(const Attached &) = delete;
    Attached &operator=(const Attached &) = delete;
};

// A libcds set of 64-bit integers as a target.
template <class Set> struct CdsSet {
    struct Local {
        Attached attached;
        Local(CdsSet &, unsigned) {}
    };

    Set *set;

    CdsSet() {
        start_cds(Set::c_nHazardPtrCount);
        Attached attached;
        set = new Set;
    }
    ~CdsSet() {
        Attached attached;
        delete set;
    }

    bool insert(Local &, int64_t key) { return set->insert(key); }
    bool remove(Local &, int64_t key) { return set->erase(key); }
    bool contains(Local &, int64_t key) { return set->contains(key); }
};

} // namespace targets
#endif
