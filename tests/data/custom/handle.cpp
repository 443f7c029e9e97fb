// A handle that counts its owners, and revives nobody. WRONG: it may be revived.
#include <atomic>
#include <interlap_operations.hpp>
struct Handle {
    struct Local {
        int owned = 0;
        Local(Handle &, unsigned) {}
    };
    static constexpr int first = 1 << 16;
    std::atomic<int> owners{first + 1}; // with the mark of the first, while it is there
    bool upgrade(Local &local) {
        int now = owners;
#ifdef WRONG
        if (now == 0) return false;
        owners++;
#else
        do
            if (now == 0) return false;
        while (!owners.compare_exchange_strong(now, now + 1));
#endif
        local.owned++;
        return true;
    }
    bool release(Local &local) { // whether it was the last
        if (local.owned == 0) interlap::skip();
        local.owned--;
        return --owners == 0;
    }
    std::optional<bool> drop_first() {
        int now = owners;
        do
            if (now < first) return std::nullopt;
        while (!owners.compare_exchange_strong(now, now - first - 1));
        return now == first + 1;
    }
    int count() const { return owners % first; }
};
INTERLAP_OPERATIONS(Handle, upgrade, release, drop_first, count)
