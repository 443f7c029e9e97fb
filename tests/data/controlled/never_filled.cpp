// Waits for a slot of a table to be filled, which nobody does, and looks through all of them again
// and again.
#include <atomic>

#include <interlap.hpp>

struct Register {
    static constexpr int slots = 300;
    std::atomic<int64_t> slot[slots] = {};
    std::atomic<int64_t> value{0};
    std::atomic<int> readers{0};

    int64_t read() { return value.load(); }
    void write(int64_t to) {
        readers.fetch_add(1);
        bool others = readers.load() > 1;
        while (others && !is_any_filled()) {}
        value.store(to);
        readers.fetch_sub(1);
    }
    bool is_any_filled() {
        for (auto &one : slot)
            if (one.load() != 0) return true;
        return false;
    }
};
INTERLAP_TARGET(Register)
