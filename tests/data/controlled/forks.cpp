// Children that lock and allocate, while other threads are in the middle of calls.
// Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

struct Counter {
    std::atomic<int64_t> value{0};
    void add(int64_t amount) {
        value += amount;
        const pid_t child = fork();
        if (child == 0) {
            std::mutex mutex;
            std::lock_guard<std::mutex> guard(mutex);
            std::vector<int64_t> values(100, value.load());
            _exit(values[99] >= amount ? 7 : 8);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) __builtin_trap();
    }
    int64_t read() { return value; }
};
INTERLAP_TARGET(Counter)
