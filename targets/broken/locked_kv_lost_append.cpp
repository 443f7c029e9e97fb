// Strings under keys whose append reads and writes under two locks.
//
// Bug: append lets go of the lock after it has read the string and takes it again to write the
// longer one (marked "BUG" below). What another thread appended or put in between is lost.
// Native: yes
#include "../locked_kv.hpp"

struct ReleasesKvLock {
    static void between(targets::KvLock &lock) {
        lock.unlock(); // BUG: the string may be another one by now
        lock.lock();
    }
};
using Target = targets::LockedKv<ReleasesKvLock>;
INTERLAP_TARGET(Target)
