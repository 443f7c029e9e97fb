// A stack whose threads raise signals, and count them where they are handled. Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <vector>

static thread_local volatile sig_atomic_t handled;
static void handle(int) { handled = handled + 1; }

struct Stack {
    std::mutex mutex;
    std::vector<int64_t> values;

    Stack() {
        struct sigaction action {}, old {};
        action.sa_handler = handle;
        sigaction(SIGUSR1, &action, nullptr);
        sigaction(SIGUSR1, nullptr, &old);
        assert(old.sa_handler == handle);
        signal(SIGUSR2, handle);
    }
    void raise_all() {
        int before = handled;
        raise(SIGUSR1);
        pthread_kill(pthread_self(), SIGUSR2);
        kill(getpid(), SIGUSR1);
        assert(handled == before + 3);
    }
    bool push(int64_t value) {
        raise_all();
        std::lock_guard lock(mutex);
        values.push_back(value);
        return true;
    }
    bool pop(int64_t &value) {
        raise_all();
        std::lock_guard lock(mutex);
        if (values.empty()) return false;
        value = values.back();
        values.pop_back();
        return true;
    }
};
INTERLAP_TARGET(Stack)
