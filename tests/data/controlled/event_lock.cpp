// A lock made of an event file, by the C library's own functions for it. Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <sys/eventfd.h>
#include <unistd.h>

struct Counter {
    int file = eventfd(1, EFD_SEMAPHORE);
    int64_t value = 0;
    std::atomic<int> calls{0};

    ~Counter() { close(file); }
    int64_t add(int64_t amount) {
        eventfd_t token;
        if (eventfd_read(file, &token) || token != 1) __builtin_trap();
        int64_t before = value;
        calls++;
        value = before + amount;
        if (eventfd_write(file, 1)) __builtin_trap();
        return before;
    }
    int64_t read() {
        add(0);
        return add(0);
    }
};
INTERLAP_TARGET(Counter)
