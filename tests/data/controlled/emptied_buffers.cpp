// Two flags, of which a thread sets its own and looks at the other's. In between it does what makes
// its store visible on any machine, without being a fence of the compiler's: so never do both miss
// the other's. Controlled: clean; with -DNOTHING, where nothing is done, a failed assertion where
// stores wait in buffers.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <csignal>
#include <mutex>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PRIVATE_EXPEDITED = 1 << 3, REGISTER_PRIVATE_EXPEDITED = 1 << 4 };
static constexpr int ways = 7;

static std::atomic<int> handled;
static void handle(int) { handled.fetch_add(1); }

struct Flags {
    std::atomic<int> flags[ways][2] = {};
    bool tried[ways][2] = {}, saw[ways][2] = {};
    std::atomic<int64_t> sum{0};
    std::mutex mutex;
    sem_t semaphore;
    int pipe_ends[2];
    bool has_barrier;
    void *page;

    Flags() {
        sem_init(&semaphore, 0, 0);
        if (pipe(pipe_ends)) abort();
        signal(SIGUSR1, handle);
        has_barrier = syscall(SYS_membarrier, REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
        page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }

    struct Local {
        unsigned thread;
        int calls = 0;
        Local(Flags &, unsigned thread) : thread(thread) {}
    };

    void empty(int way, unsigned thread) {
#ifndef NOTHING
        char byte = 0;
        switch (way) {
        case 0: mutex.lock(), mutex.unlock(); break;
        case 1: sem_post(&semaphore); break;
        case 2: raise(SIGUSR1); break;
        case 3: // one thread's barrier is all threads'
            if (thread == 0) syscall(SYS_membarrier, PRIVATE_EXPEDITED, 0, 0);
            break;
        case 4: // as mappings are, which processors must forget
            if (thread == 0) mprotect(page, 4096, PROT_READ);
            break;
        case 5:
            if (write(pipe_ends[1], &byte, 1) != 1 || ::read(pipe_ends[0], &byte, 1) != 1) abort();
            break;
        case 6: handled.exchange(0, std::memory_order_relaxed); break;
        }
#else
        (void)way, (void)thread;
#endif
    }

    void add(Local &local, int64_t amount) {
        int way = local.calls++;
        unsigned me = local.thread;
        if (me < 2 && way < ways && (way != 3 || has_barrier)) {
            flags[way][me].store(1, std::memory_order_release);
            empty(way, me);
            bool seen = flags[way][!me].load(std::memory_order_acquire);
            saw[way][me] = seen;
            tried[way][me] = true;
        }
        sum.fetch_add(amount);
    }
    int64_t read() { return sum.load(); }

    ~Flags() {
        for (int way = 0; way < ways; way++)
            if (tried[way][0] && tried[way][1])
                assert(saw[way][0] || saw[way][1] || !"neither saw the other");
        munmap(page, 4096);
        close(pipe_ends[0]), close(pipe_ends[1]);
        sem_destroy(&semaphore);
    }
};
INTERLAP_TARGET(Flags)
