// A stack behind a lock of C++20's std::atomic::wait and notify_one. Controlled: clean.
// interlap: -std=c++20
#include <interlap.hpp>

#include <atomic>
#include <vector>

struct Stack {
    std::atomic<int> state{0}; // 0 free, 1 held, 2 held and somebody may wait
    std::vector<int64_t> values;

    void lock() {
        int expected = 0;
        if (state.compare_exchange_strong(expected, 1)) return;
        while (state.exchange(2) != 0) state.wait(2);
    }
    void unlock() {
        if (state.exchange(0) == 2) state.notify_one();
    }
    bool push(int64_t value) {
        lock();
        values.push_back(value);
        unlock();
        return true;
    }
    bool pop(int64_t &value) {
        lock();
        bool found = !values.empty();
        if (found) {
            value = values.back();
            values.pop_back();
        }
        unlock();
        return found;
    }
};
INTERLAP_TARGET(Stack)
