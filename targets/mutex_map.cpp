// A hash map with striped locks.
//
// Guarantee: linearizable map; every operation holds the lock of its key throughout.
// Source: argued in mutex_map.hpp.
#include "mutex_map.hpp"

using Target = targets::MutexMap<targets::KeepsLock>;
INTERLAP_TARGET(Target)
