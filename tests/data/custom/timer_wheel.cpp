// Timers of four slots: tick() gives those that are due. WRONG: it reads and empties a slot in two
// steps.
#include <interlap_operations.hpp>
#include <mutex>
#include <set>
struct Wheel {
    std::mutex mutex;
    std::set<int> slots[4];
    int now = 0;
    void add(int id, bool late) {
        std::lock_guard<std::mutex> guard(mutex);
        slots[(now + (late ? 2 : 1)) % 4].insert(id);
    }
    bool cancel(int id) {
        std::lock_guard<std::mutex> guard(mutex);
        bool done = false;
        for (auto &slot : slots) done |= slot.erase(id) > 0;
        return done;
    }
    std::set<int> tick() {
        std::unique_lock<std::mutex> guard(mutex);
        now++;
        std::set<int> due = slots[now % 4];
#ifdef WRONG
        int at = now % 4;
        guard.unlock();
        guard.lock();
        slots[at].clear();
#else
        slots[now % 4].clear();
#endif
        return due;
    }
};
INTERLAP_OPERATIONS(Wheel, add, cancel, tick)
