// A lock made of the room in a pipe: who fills it has the lock, and the next writer waits in the
// kernel. Controlled: refused.
#include <interlap.hpp>

#include <atomic>
#include <fcntl.h>
#include <unistd.h>

struct Counter {
    static constexpr int page = 4096;
    int ends[2];
    int64_t value = 0;
    std::atomic<int> calls{0};

    Counter() {
        if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, page) != page) __builtin_trap();
    }
    ~Counter() {
        close(ends[0]);
        close(ends[1]);
    }
    int64_t add(int64_t amount) {
        char bytes[page] = {};
        if (write(ends[1], bytes, page) != page) __builtin_trap();
        int64_t before = value;
        calls++;
        value = before + amount;
        if (::read(ends[0], bytes, page) != page) __builtin_trap();
        return before;
    }
    int64_t read() { return add(0); }
};
INTERLAP_TARGET(Counter)
