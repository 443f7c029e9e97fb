// std::atomic as a register.
//
// Guarantee: linearizable register; sequentially consistent operations on one atomic word.
// Source: C++17, 32.4 [atomics.order].
#include "atomic_register.hpp"

using Target = targets::AtomicRegister<targets::OneStep>;
INTERLAP_TARGET(Target)
