// A stack behind a lock whose waiters sleep longer and longer. Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <unistd.h>
#include <vector>

struct Stack {
    std::atomic_flag held = ATOMIC_FLAG_INIT;
    std::vector<int64_t> values;

    void lock() {
        for (unsigned microseconds = 1; held.test_and_set(); microseconds *= 2) {
            if (microseconds < 8)
                std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
            else
                usleep(microseconds = 8);
        }
    }
    bool push(int64_t value) {
        lock();
        values.push_back(value);
        held.clear();
        return true;
    }
    bool pop(int64_t &value) {
        lock();
        bool found = !values.empty();
        if (found) {
            value = values.back();
            values.pop_back();
        }
        held.clear();
        return found;
    }
};
INTERLAP_TARGET(Stack)
