// A semaphore. WRONG: it takes a permit in two steps.
#include <atomic>
#include <interlap_operations.hpp>
struct Semaphore {
    std::atomic<int> permits{2};
    bool try_acquire() {
        int had = permits.load();
#ifdef WRONG
        if (had == 0) return false;
        permits.store(had - 1);
        return true;
#else
        while (had > 0)
            if (permits.compare_exchange_weak(had, had - 1)) return true;
        return false;
#endif
    }
    void release() { permits++; }
    int available() const { return permits; }
};
INTERLAP_OPERATIONS(Semaphore, try_acquire, release, available)
