// A lock that urgent threads get before others. WRONG: it is taken in two steps.
#include <atomic>
#include <interlap_operations.hpp>
struct Lock {
    struct Local {
        bool holds = false;
        Local(Lock &, unsigned) {}
    };
    enum class Priority { low, urgent };
    std::atomic<int> state{0}; // bit 0: held; the rest: how many urgent ones asked
    void ask() { state += 2; }
    bool try_lock(Local &local, Priority priority) {
        if (local.holds) interlap::skip();
        int now = state;
        bool urgent = priority == Priority::urgent && now >= 2;
        if (now & 1 || (!urgent && now >= 2)) return false;
        int next = (urgent ? now - 2 : now) | 1;
#ifdef WRONG
        state = next;
#else
        if (!state.compare_exchange_strong(now, next)) return try_lock(local, priority);
#endif
        return local.holds = true;
    }
    void unlock(Local &local) {
        if (!local.holds) interlap::skip();
        local.holds = false;
        state -= 1;
    }
};
INTERLAP_OPERATIONS(Lock, ask, try_lock, unlock)
