// A queue that lets time, chance, thread numbers and processors decide how long it takes.
// Controlled: clean, and the same in each run.
#include <interlap.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

struct Queue {
    static constexpr auto model = "fifo";
    std::mutex mutex;
    std::deque<int64_t> values;
    std::atomic<uint64_t> noise{0};
    std::random_device device;

    void dawdle() {
        uint64_t chance = device() ^ static_cast<uint64_t>(rand());
        chance ^= static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
        chance ^= static_cast<uint64_t>(syscall(SYS_gettid) + sched_getcpu());
        chance ^= std::hash<std::thread::id>()(std::this_thread::get_id());
        for (uint64_t i = 0; i < chance % 4; i++) noise += chance;
    }
    bool enqueue(int64_t value) {
        dawdle();
        std::lock_guard lock(mutex);
        values.push_back(value);
        return true;
    }
    bool dequeue(int64_t &value) {
        dawdle();
        std::lock_guard lock(mutex);
        if (values.empty()) return false;
        value = values.front();
        values.pop_front();
        return true;
    }
};
INTERLAP_TARGET(Queue)
