// An append-only log of slots that fill from the first on; segments of doubling size, no locks.
#ifndef INTERLAP_TARGETS_SLOT_LOG_HPP
#define INTERLAP_TARGETS_SLOT_LOG_HPP

#include <atomic>
#include <cstdint>
#include <interlap.hpp>

namespace targets {

// How an append takes the next slot: its position.
struct FillThenAdvance {
    template <class Log> static uint64_t append(Log &log, int64_t value) {
        for (;;) {
            uint64_t at = log.tail.load();
            int64_t found = Log::nothing;
            bool filled = log.slot(at).compare_exchange_strong(found, value);
            log.advance(at);
            if (filled) return at;
        }
    }
};

// A slot is filled once and for ever, by the compare-exchange at which its append takes effect.
// `tail` only grows, one by one, and only past filled slots; whoever finds the slot at `tail`
// filled moves it on. So the filled slots are always the first ones, and there are `tail` or one
// more of them.
template <class Append> struct SlotLog {
    static constexpr auto model = "log";
    static constexpr int64_t nothing = INT64_MIN; // no record has this value
    static constexpr uint64_t first_slots = 8;
    static constexpr unsigned segment_count = 40;

    struct Slot {
        std::atomic<int64_t> value{nothing};
    };

    // Segment i has the first_slots << i slots from position first_slots * (2^i - 1) on.
    std::atomic<Slot *> segments[segment_count] = {};
    alignas(64) std::atomic<uint64_t> tail{0};

    ~SlotLog() {
        for (auto &segment : segments) delete[] segment.load();
    }

    std::atomic<int64_t> &slot(uint64_t position) {
        unsigned i = 0;
        while (position >= first_slots << i) position -= first_slots << i++;
        Slot *segment = segments[i].load();
        if (segment == nullptr) {
            Slot *made = new Slot[first_slots << i];
            // Where another thread was faster, `segment` is its own.
            if (segments[i].compare_exchange_strong(segment, made))
                segment = made;
            else
                delete[] made;
        }
        return segment[position].value;
    }

    void advance(uint64_t from) { tail.compare_exchange_strong(from, from + 1); }

    bool append(int64_t value, int64_t &position) {
        position = static_cast<int64_t>(Append::append(*this, value));
        return true;
    }

    bool read(int64_t position, int64_t &value) {
        // Nothing is filled beyond the slot at `tail`; do not make segments for far positions.
        if (static_cast<uint64_t>(position) > tail.load()) return false;
        value = slot(static_cast<uint64_t>(position)).load();
        return value != nothing;
    }

    // Takes effect at its last look at a slot: it is empty and all before it are filled.
    int64_t check_tail() {
        for (;;) {
            uint64_t at = tail.load();
            if (slot(at).load() == nothing) return static_cast<int64_t>(at);
            advance(at);
        }
    }
};

} // namespace targets
#endif
