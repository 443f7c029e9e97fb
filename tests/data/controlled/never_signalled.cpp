// A counter that waits for a signal which nobody sends when two threads add at once. Controlled: a
// deadlock.
#include <interlap.hpp>

#include <atomic>
#include <csignal>
#include <pthread.h>

struct Counter {
    std::atomic<int64_t> value{0};
    std::atomic<int> inside{0};

    void add(int64_t amount) {
        value += amount;
        if (inside++ > 0) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGUSR1);
            pthread_sigmask(SIG_BLOCK, &set, nullptr);
            int signal;
            sigwait(&set, &signal);
        }
        inside--;
    }
    int64_t read() { return value; }
};
INTERLAP_TARGET(Counter)
