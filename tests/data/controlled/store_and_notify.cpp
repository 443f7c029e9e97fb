// A counter to which nobody adds until the first thread has. Others sleep until it tells them, with
// a store that is no fence and a notification that the C++ library leaves out where it sees nobody
// asleep. Controlled: clean; a store that waited in a buffer until others have gone to sleep, which
// takes them longer than any processor keeps it, would be a deadlock.
#include <interlap.hpp>

#include <atomic>

struct Event {
    std::atomic<int> ready{0};
    std::atomic<int64_t> sum{0};
    struct Local {
        unsigned thread;
        Local(Event &, unsigned thread) : thread(thread) {}
    };
    void add(Local &local, int64_t amount) {
        if (local.thread != 0) ready.wait(0, std::memory_order_acquire);
        sum.fetch_add(amount);
        if (local.thread == 0) {
            ready.store(1, std::memory_order_release);
            ready.notify_all();
        }
    }
    int64_t read() { return sum.load(); }
};
INTERLAP_TARGET(Event)
