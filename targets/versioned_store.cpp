// Transactions over versions of keys, under one lock, with their timestamps.
//
// Guarantee: snapshot isolation; a snapshot shows what was committed when it was begun.
// Source: argued in versioned_store.hpp.
#include "versioned_store.hpp"

using Target = targets::VersionedStore<targets::FirstCommitterWins>;
INTERLAP_TARGET(Target)
