// Registers functions for forks once and for all: in each round anew, as its variables are.
// Controlled: clean.
#include <interlap.hpp>

#include <mutex>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static std::mutex mutex;
static int forks = 0, children = 0;
static void before() { mutex.lock(); }
static void in_parent() {
    forks++;
    mutex.unlock();
}
static void in_child() {
    children++;
    mutex.unlock();
}

struct Counter {
    int64_t value = 0;
    Counter() {
        static const int registered = pthread_atfork(before, in_parent, in_child);
        if (registered != 0) __builtin_trap();
    }
    void add(int64_t amount) {
        const pid_t child = fork();
        if (child == 0) {
            std::lock_guard<std::mutex> guard(mutex);
            _exit(children == 1 ? 7 : 8);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) __builtin_trap();
        std::lock_guard<std::mutex> guard(mutex);
        if (forks == 0) __builtin_trap();
        value += amount;
    }
    int64_t read() {
        std::lock_guard<std::mutex> guard(mutex);
        return value;
    }
};
INTERLAP_TARGET(Counter)
