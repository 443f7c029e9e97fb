// A register of two halves, each written by a helper thread between two barriers.
// Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <mutex>
#include <pthread.h>
#include <thread>

struct Register {
    std::mutex mutex;
    pthread_barrier_t begin, end;
    int64_t wanted = 0;
    uint32_t halves[2] = {0, 0};
    bool stop = false;
    std::thread helpers[2];

    Register() {
        pthread_barrier_init(&begin, nullptr, 3);
        pthread_barrier_init(&end, nullptr, 3);
        for (int i = 0; i < 2; i++) helpers[i] = std::thread([this, i] { help(i); });
    }
    ~Register() {
        stop = true;
        pthread_barrier_wait(&begin);
        // Allowed although the helpers may not have left it.
        pthread_barrier_destroy(&begin);
        for (auto &helper : helpers) helper.join();
        pthread_barrier_destroy(&end);
    }
    void help(int half) {
        for (;;) {
            pthread_barrier_wait(&begin);
            if (stop) return;
            halves[half] = static_cast<uint32_t>(wanted >> (32 * half));
            pthread_barrier_wait(&end);
        }
    }
    int64_t value() { return static_cast<int64_t>(uint64_t{halves[1]} << 32 | halves[0]); }
    int64_t read() {
        std::lock_guard lock(mutex);
        return value();
    }
    void set(int64_t v) {
        wanted = v;
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
    }
    void write(int64_t v) {
        std::lock_guard lock(mutex);
        set(v);
    }
    bool compare_exchange(int64_t old, int64_t v) {
        std::lock_guard lock(mutex);
        if (value() != old) return false;
        set(v);
        return true;
    }
};
INTERLAP_TARGET(Register)
