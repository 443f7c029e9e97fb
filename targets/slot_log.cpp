// A lock-free append-only log.
//
// Guarantee: linearizable log; each append takes effect when it fills the first empty slot.
// Source: argued in slot_log.hpp.
#include "slot_log.hpp"

using Target = targets::SlotLog<targets::FillThenAdvance>;
INTERLAP_TARGET(Target)
