// Six MiB of recursion, and a thread that looks where its stack is. Clean.
#include <interlap.hpp>

#include <atomic>
#include <pthread.h>

struct Counter {
    std::atomic<int64_t> value{0};
    __attribute__((noinline)) static int deep(int levels) {
        volatile char room[1000];
        room[0] = static_cast<char>(levels);
        return levels == 0 ? 0 : deep(levels - 1) + (room[0] & 1);
    }
    void add(int64_t amount) {
        if (deep(6000) != 3000) __builtin_trap();
        value += amount;
    }
    int64_t read() {
        pthread_attr_t attributes;
        void *from = nullptr;
        size_t bytes = 0;
        char here = 0;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &from, &bytes);
        pthread_attr_destroy(&attributes);
        char *first = static_cast<char *>(from);
        if (&here < first || &here >= first + bytes) __builtin_trap();
        return value;
    }
};
INTERLAP_TARGET(Counter)
