// A stack whose thread of its own takes requests as signals that it waits for. Controlled: clean. A
// blocked signal is taken by who waits for it, with what it carries; a real-time signal comes as
// often as it was sent; a wait for a handler ends when one has run, in no order that loses a signal.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

static thread_local volatile sig_atomic_t handled;
static void handle(int, siginfo_t *info, void *) {
    assert(info->si_pid == getpid());
    handled = handled + 1;
}

static sigset_t only(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : signals) sigaddset(&set, signal);
    return set;
}

static sigval carrying(int value) {
    sigval carried;
    carried.sival_int = value;
    return carried;
}

struct Stack {
    std::mutex mutex;
    std::vector<int64_t> values;
    std::atomic<int> requests{0};
    std::thread server;

    Stack() {
        struct sigaction action {};
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaction(SIGUSR1, &action, nullptr);
        sigset_t set = only({SIGUSR1, SIGUSR2, SIGRTMIN, SIGRTMIN + 1});
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        server = std::thread([this] { serve(); });
    }
    ~Stack() {
        pthread_kill(server.native_handle(), SIGUSR2);
        server.join();
    }

    // Requests come first, as they have no lower number: all are served before the end.
    void serve() {
        sigset_t set = only({SIGUSR2, SIGRTMIN});
        int sum = 0, ends = 0;
        while (!ends || sum < requests) {
            siginfo_t info{};
            int signal = sigwaitinfo(&set, &info);
            assert(signal == info.si_signo && info.si_pid == getpid());
            if (signal == SIGUSR2) ends++;
            if (signal == SIGRTMIN) sum += info.si_value.sival_int;
            assert(signal != SIGRTMIN || info.si_code == SI_QUEUE);
        }
        assert(ends == 1 && sum == requests);
    }

    void request() {
        requests++;
        while (pthread_sigqueue(server.native_handle(), SIGRTMIN, carrying(1)) != 0) sched_yield();
    }

    // Nobody else lets this one through, or waits for it.
    void take_own() {
        sigset_t set = only({SIGRTMIN + 1});
        timespec soon{0, 1000};
        int signal = 0;
        assert(sigtimedwait(&set, nullptr, &soon) == -1 && errno == EAGAIN);
        for (int value : {3, 4}) pthread_sigqueue(pthread_self(), SIGRTMIN + 1, carrying(value));
        siginfo_t info{};
        assert(sigtimedwait(&set, &info, &soon) == SIGRTMIN + 1 && info.si_value.sival_int == 3);
        assert(sigwait(&set, &signal) == 0 && signal == SIGRTMIN + 1);
        assert(sigtimedwait(&set, nullptr, &soon) == -1);
    }

    // The signal that another thread sends may come before the wait.
    void suspend() {
        int before = handled;
        pthread_t self = pthread_self();
        std::thread wakes([self] { pthread_kill(self, SIGUSR1); });
        sigset_t none = only({SIGRTMIN, SIGRTMIN + 1, SIGUSR2}), now;
        assert(sigsuspend(&none) == -1 && errno == EINTR && handled == before + 1);
        pthread_sigmask(SIG_BLOCK, nullptr, &now);
        assert(sigismember(&now, SIGUSR1));
        wakes.join();
    }

    bool push(int64_t value) {
        request();
        take_own();
        std::lock_guard lock(mutex);
        values.push_back(value);
        return true;
    }
    bool pop(int64_t &value) {
        suspend();
        std::lock_guard lock(mutex);
        if (values.empty()) return false;
        value = values.back();
        values.pop_back();
        return true;
    }
};
INTERLAP_TARGET(Stack)
