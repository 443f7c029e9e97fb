// A hash map with striped locks.
//
// Guarantee: linearizable map; every operation holds the lock of its key throughout.
#include "mutex_map.hpp"

using Target = targets::MutexMap<targets::KeepsLock>;
INTERLAP_TARGET(Target)
