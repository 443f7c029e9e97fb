// A stack whose lock is an instruction of its own, beside atomics that the engine sees: a thread that
// waits for the lock while its holder does not run would wait for ever.
#include <interlap.hpp>

#include <atomic>
#include <vector>

struct SpinLock {
    unsigned char held = 0;

    void lock() {
        unsigned char taken = 1;
        while (taken != 0) {
            asm volatile("xchgb %0, %1" : "+q"(taken), "+m"(held)::"memory");
        }
    }
    void unlock() { asm volatile("movb $0, %0" : "=m"(held)::"memory"); }
};

struct Stack {
    SpinLock spin;
    std::vector<int64_t> values;
    std::atomic<long> pushed{0};

    bool push(int64_t value) {
        pushed.fetch_add(1);
        spin.lock();
        values.push_back(value);
        spin.unlock();
        return true;
    }
    bool pop(int64_t &value) {
        if (pushed.load() == 0) return false;
        spin.lock();
        bool done = !values.empty();
        if (done) {
            value = values.back();
            values.pop_back();
        }
        spin.unlock();
        return done;
    }
};
INTERLAP_TARGET(Stack)
