// Ids, the last released first. WRONG: without a tag (ABA).
#include <atomic>
#include <interlap_operations.hpp>
struct Pool {
    struct Local {
        bool holds[4] = {};
        Local(Pool &, unsigned) {}
    };
#ifdef WRONG
    static constexpr uint64_t tag = 0;
#else
    static constexpr uint64_t tag = uint64_t(1) << 32;
#endif
    std::atomic<uint64_t> head{1}; // an id + 1, or 0
    std::atomic<uint32_t> next[4] = {2, 3, 4, 0};
    std::optional<int> acquire(Local &local) {
        uint64_t first = head, second;
        do {
            if (uint32_t(first) == 0) return std::nullopt;
            second = ((first >> 32 << 32) + tag) | next[uint32_t(first) - 1];
        } while (!head.compare_exchange_strong(first, second));
        local.holds[uint32_t(first) - 1] = true;
        return int(uint32_t(first) - 1);
    }
    void release(Local &local, unsigned id) {
        if (id >= 4 || !local.holds[id]) interlap::skip(); // not ours to give back
        local.holds[id] = false;
        uint64_t first = head;
        do next[id] = uint32_t(first);
        while (!head.compare_exchange_strong(first, ((first >> 32 << 32) + tag) | (id + 1)));
    }
};
INTERLAP_OPERATIONS(Pool, acquire, release)
