// A thread that asks for a large stack, and needs it. Controlled: refused.
#include <interlap.hpp>

#include <atomic>
#include <cstring>
#include <pthread.h>

struct Counter {
    std::atomic<int64_t> value{0};
    static void *work(void *) {
        char room[20 << 20];
        std::memset(room, 1, sizeof room);
        asm volatile("" : : "r"(room) : "memory");
        return nullptr;
    }
    void add(int64_t amount) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 64 << 20);
        pthread_t thread;
        pthread_create(&thread, &attributes, work, nullptr);
        pthread_join(thread, nullptr);
        pthread_attr_destroy(&attributes);
        value += amount;
    }
    int64_t read() { return value; }
};
INTERLAP_TARGET(Counter)
