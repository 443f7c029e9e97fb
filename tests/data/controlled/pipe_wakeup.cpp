// A register whose writers are woken through a pipe by a helper that polls one. Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <mutex>
#include <poll.h>
#include <thread>
#include <unistd.h>

struct Register {
    std::mutex mutex, writers;
    int64_t value = 0;
    int asked[2], answered[2];
    std::thread helper;

    Register() {
        if (pipe(asked) != 0 || pipe(answered) != 0) std::terminate();
        helper = std::thread([this] { help(); });
    }
    ~Register() {
        close(asked[1]);
        helper.join();
        close(asked[0]);
        close(answered[0]);
        close(answered[1]);
    }
    void help() {
        for (;;) {
            pollfd entry{asked[0], POLLIN, 0};
            int64_t wanted;
            if (poll(&entry, 1, 1) == 0) continue;
            if (::read(asked[0], &wanted, sizeof wanted) != sizeof wanted) return;
            {
                std::lock_guard lock(mutex);
                value = wanted;
            }
            if (::write(answered[1], "", 1) != 1) return;
        }
    }
    int64_t read() {
        std::lock_guard lock(mutex);
        return value;
    }
    void write(int64_t v) {
        std::lock_guard writer(writers);
        char answer;
        if (::write(asked[1], &v, sizeof v) != sizeof v) std::terminate();
        if (::read(answered[0], &answer, 1) != 1) std::terminate();
    }
};
INTERLAP_TARGET(Register)
