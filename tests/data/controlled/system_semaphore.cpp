// A lock made of a semaphore of System V, for which the kernel stops the process.
// Controlled: refused.
#include <interlap.hpp>

#include <atomic>
#include <sys/ipc.h>
#include <sys/sem.h>

struct Counter {
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    int64_t value = 0;
    std::atomic<int> calls{0};

    Counter() { change(1); }
    ~Counter() { semctl(semaphore, 0, IPC_RMID); }
    void change(short by) {
        sembuf change{0, by, SEM_UNDO};
        if (semop(semaphore, &change, 1)) __builtin_trap();
    }
    int64_t add(int64_t amount) {
        change(-1);
        int64_t before = value;
        calls++;
        value = before + amount;
        change(1);
        return before;
    }
    int64_t read() { return add(0); }
};
INTERLAP_TARGET(Counter)
