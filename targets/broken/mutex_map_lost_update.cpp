// A hash map with striped locks whose conditional writes look and write under two locks.
//
// Bug: insert_if_absent and compare_exchange let go of the lock after they have looked at the key
// and take it again to write (marked "BUG" below). Two threads may both find the key absent, and
// both say that they inserted it.
// Native: yes
#include "../mutex_map.hpp"

struct ReleasesLock {
    static void between(targets::Lock &lock) {
        lock.unlock(); // BUG: what was found need not hold any more
        lock.lock();
    }
};
using Target = targets::MutexMap<ReleasesLock>;
INTERLAP_TARGET(Target)
