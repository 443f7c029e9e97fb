// An event count: who has a key learns whether something was announced since. WRONG: announcements
// can be lost.
#include <atomic>
#include <interlap_operations.hpp>
struct EventCount {
    std::atomic<uint64_t> epoch{0};
    uint64_t prepare() const { return epoch; }
    bool has_changed(uint64_t key) const { return epoch != key; }
    uint64_t announce() {
#ifdef WRONG
        uint64_t next = epoch + 1;
        epoch = next;
        return next;
#else
        return ++epoch;
#endif
    }
};
INTERLAP_OPERATIONS(EventCount, prepare, has_changed, announce)
