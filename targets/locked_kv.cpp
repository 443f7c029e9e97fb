// Strings under keys: a std::map under one lock.
//
// Guarantee: linearizable; every operation holds the lock throughout.
// Source: argued in locked_kv.hpp.
#include "locked_kv.hpp"

using Target = targets::LockedKv<targets::KeepsKvLock>;
INTERLAP_TARGET(Target)
