// A stack behind a spin lock that yields. Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <sched.h>
#include <vector>

struct Stack {
    std::atomic<bool> held{false};
    std::vector<int64_t> values;

    void lock() {
        while (held.exchange(true)) {
            while (held.load()) { sched_yield(); }
        }
    }
    bool push(int64_t value) {
        lock();
        values.push_back(value);
        held.store(false);
        return true;
    }
    bool pop(int64_t &value) {
        lock();
        bool found = !values.empty();
        if (found) {
            value = values.back();
            values.pop_back();
        }
        held.store(false);
        return found;
    }
};
INTERLAP_TARGET(Stack)
