// A worker that a static object starts. Controlled: refused.
#include <interlap.hpp>

#include <atomic>
#include <thread>

static std::atomic<int64_t> asked{0}, answered{0};

static struct Worker {
    std::atomic<bool> stops{false};
    std::thread thread{[this] {
        while (!stops) {
            answered.store(asked.load());
            std::this_thread::yield();
        }
    }};
    ~Worker() {
        stops = true;
        thread.join();
    }
} worker;

struct Counter {
    std::atomic<int64_t> value{0};
    void add(int64_t amount) {
        const int64_t mine = ++asked;
        while (answered.load() < mine) std::this_thread::yield();
        value += amount;
    }
    int64_t read() { return value; }
};
INTERLAP_TARGET(Counter)
