// A stack behind the three-state lock of Drepper's "Futexes are tricky", with SYS_futex itself, whose
// waits may time out, and an event that all wait for by bits. Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

struct Stack {
    std::atomic<uint32_t> state{0}, opened{0};
    std::vector<int64_t> values;

    static long futex(std::atomic<uint32_t> &word, int operation, uint32_t value,
                      const timespec *time, uint32_t bits) {
        return syscall(SYS_futex, &word, operation, value, time, nullptr, bits);
    }
    void lock() {
        uint32_t seen = 0;
        if (state.compare_exchange_strong(seen, 1)) return;
        timespec nap{0, 7'000};
        while (state.exchange(2) != 0) {
            long answer = futex(state, FUTEX_WAIT_PRIVATE, 2, &nap, 0);
            assert(answer == 0 || errno == EAGAIN || errno == ETIMEDOUT);
        }
    }
    void unlock() {
        if (state.exchange(0) == 2) futex(state, FUTEX_WAKE_PRIVATE, 1, nullptr, 0);
    }
    /// Whoever comes first opens; the others wait for that.
    void open() {
        uint32_t seen = 0;
        if (opened.compare_exchange_strong(seen, 1)) {
            opened = 2;
            futex(opened, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, 4);
        }
        while (opened != 2) futex(opened, FUTEX_WAIT_BITSET_PRIVATE, 1, nullptr, 6);
    }
    bool push(int64_t value) {
        open();
        lock();
        values.push_back(value);
        unlock();
        return true;
    }
    bool pop(int64_t &value) {
        open();
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
