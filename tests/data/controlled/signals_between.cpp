// A stack whose threads send each other signals, block them, and wait. Controlled: clean. Each
// thread has a mask of its own; a thread that waits takes a signal, and waits on; one that blocks it
// takes it later; calls that wait and are not begun again fail with EINTR.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

static thread_local volatile sig_atomic_t handled;
static std::atomic<int> acknowledged;
static void handle(int) {
    handled = handled + 1;
    acknowledged++;
}

// As good as one that is installed in a round.
[[maybe_unused]] static const auto at_load = signal(SIGHUP, handle);

static sigset_t only(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

struct Stack {
    std::mutex mutex;
    std::vector<int64_t> values;
    sem_t semaphore;

    Stack() {
        sem_init(&semaphore, 0, 0);
        for (int number : {SIGUSR1, SIGUSR2, SIGRTMIN}) {
            struct sigaction action {};
            action.sa_handler = handle;
            action.sa_flags = number == SIGUSR2 ? 0 : SA_RESTART;
            sigaction(number, &action, nullptr);
        }
        // SIGRTMIN: only where a thread lets it through.
        sigset_t set = only(SIGRTMIN), now;
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        sigprocmask(SIG_BLOCK, nullptr, &now);
        assert(sigismember(&now, SIGRTMIN) && !sigismember(&now, SIGUSR1));
        acknowledged = 0;
        std::thread waiting([this] { assert(sem_wait(&semaphore) == 0); });
        std::thread interrupted([this] {
            while (sem_wait(&semaphore) != 0) assert(errno == EINTR);
        });
        while (pthread_kill(waiting.native_handle(), SIGUSR1) == 0 && acknowledged == 0)
            sched_yield();
        int before = acknowledged;
        pthread_kill(interrupted.native_handle(), SIGUSR2);
        // It is handled although its thread may be waiting.
        while (acknowledged == before) sched_yield();
        sem_post(&semaphore);
        sem_post(&semaphore);
        waiting.join();
        interrupted.join();
    }
    ~Stack() { sem_destroy(&semaphore); }

    void block_and_raise() {
        int before = handled;
        sigset_t set = only(SIGUSR1), old, pending;
        pthread_sigmask(SIG_BLOCK, &set, &old);
        assert(sigismember(&old, SIGRTMIN) && !sigismember(&old, SIGUSR1));
        raise(SIGUSR1);
        syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
        sched_yield();
        sigpending(&pending);
        assert(handled == before && sigismember(&pending, SIGUSR1));
        pthread_sigmask(SIG_SETMASK, &old, nullptr);
        assert(handled == before + 1);
        kill(getpid(), SIGUSR1);
        raise(SIGHUP);
        assert(handled == before + 3);
    }
    bool push(int64_t value) {
        block_and_raise();
        std::lock_guard lock(mutex);
        values.push_back(value);
        return true;
    }
    bool pop(int64_t &value) {
        block_and_raise();
        std::lock_guard lock(mutex);
        if (values.empty()) return false;
        value = values.back();
        values.pop_back();
        return true;
    }
};
INTERLAP_TARGET(Stack)
