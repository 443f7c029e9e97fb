// A log whose appends take their position before they write the record.
//
// Bug: the tail moves first and the slot is filled later (marked "BUG" below): another thread is
// told of a record that a read does not find, or reads one that comes after a hole.
// Native: yes
#include "../slot_log.hpp"

struct AdvanceThenFill {
    template <class Log> static uint64_t append(Log &log, int64_t value) {
        uint64_t at = log.tail.fetch_add(1); // BUG: nothing stands there yet
        log.slot(at).store(value);
        return at;
    }
};
using Target = targets::SlotLog<AdvanceThenFill>;
INTERLAP_TARGET(Target)
