// Broken: a spin lock stays held when pop finds nothing. Controlled: livelock.
#include <interlap.hpp>

#include <atomic>
#include <vector>

struct Stack {
    std::atomic<bool> held{false};
    std::atomic<int> callers{0};
    std::vector<int64_t> values;

    // Also called by the thread that then waits for the others, and never in a loop of its own.
    Stack() { is_held(); }
    [[gnu::noinline]] bool is_held() const { return held.load(); }
    void lock() {
        while (is_held() || held.exchange(true)) {
        }
    }
    bool push(int64_t value) {
        lock();
        values.push_back(value);
        held.store(false);
        return true;
    }
    bool pop(int64_t &value) {
        bool alone = callers.fetch_add(1) == 0;
        lock();
        bool found = !values.empty();
        if (found) {
            value = values.back();
            values.pop_back();
        }
        callers.fetch_sub(1);
        if (found || alone) held.store(false); // BUG: not if there was nothing and another came
        return found;
    }
};
INTERLAP_TARGET(Stack)
