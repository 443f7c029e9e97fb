// Life support for libcds structures: the library is started once in a process, and every thread
// that touches a structure must be attached to it meanwhile.
#ifndef INTERLAP_TARGETS_CDS_THREADS_HPP
#define INTERLAP_TARGETS_CDS_THREADS_HPP

#include <cds/gc/dhp.h>
#include <cds/gc/hp.h>
#include <cds/init.h>
#include <cds/sync/spinlock.h>

namespace targets {

// The library's spin lock, giving way between two looks. As it comes it pauses up to 16,384 times,
// which takes most of a run where the holder cannot go on meanwhile: on few processors, and under
// the controlled engine always.
using SpinLock = cds::sync::spin_lock<cds::backoff::yield>;

// What keeps memory from being freed too early; `Container::gc`, where it has one.
template <class Collector> Collector *new_collector(size_t) { return new Collector; }
template <> inline cds::gc::HP *new_collector(size_t hazard_pointers) {
    // 64 threads that call, one that drains, one that creates and destroys, and some room.
    const size_t thread_max = 72;
    return new cds::gc::HP(hazard_pointers, thread_max);
}
template <> inline cds::gc::DHP *new_collector(size_t) { return new cds::gc::DHP; }

template <class T, class = void> struct Collector {
    static void start() {}
};
template <class T> struct Collector<T, std::void_t<decltype(T::c_nHazardPtrCount)>> {
    static void start() { new_collector<typename T::gc>(T::c_nHazardPtrCount); }
};
template <class T> struct Collector<T, std::void_t<typename T::rcu_lock>> {
    static void start() { new typename T::gc; }
};

// Starts libcds and what the container needs of it, for good: threads may still be attached when
// the process ends.
template <class Container> void start_cds_for() {
    static const bool started = [] {
        cds::Initialize();
        Collector<Container>::start();
        return true;
    }();
    (void)started;
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

// A container made on an attached thread and used by attached threads only.
template <class Container> struct CdsContainer {
    struct Local {
        Attached attached;
        Local(CdsContainer &, unsigned) {}
    };

    Container *container;

    template <class... A> explicit CdsContainer(A... a) {
        start_cds_for<Container>();
        Attached attached;
        container = new Container(a...);
    }
    ~CdsContainer() {
        Attached attached;
        delete container;
    }
    CdsContainer(const CdsContainer &) = delete;
    CdsContainer &operator=(const CdsContainer &) = delete;
};

// A libcds set of 64-bit integers as a target.
template <class Set> struct CdsSet : CdsContainer<Set> {
    using Local = typename CdsContainer<Set>::Local;
    using CdsContainer<Set>::CdsContainer;

    bool insert(Local &, int64_t key) { return this->container->insert(key); }
    bool remove(Local &, int64_t key) { return this->container->erase(key); }
    bool contains(Local &, int64_t key) { return this->container->contains(key); }
};

} // namespace targets
#endif
