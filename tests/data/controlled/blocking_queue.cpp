// A bounded queue of a mutex and two condition variables; calls wait for a while. Controlled: clean.
#include <interlap.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

struct Queue {
    static constexpr auto model = "fifo";
    static constexpr unsigned capacity = 2;
    std::mutex mutex;
    std::condition_variable not_full, not_empty;
    std::deque<int64_t> values;

    bool enqueue(int64_t value) {
        std::unique_lock lock(mutex);
        auto free = [&] { return values.size() < capacity; };
        if (!not_full.wait_for(lock, std::chrono::microseconds(20), free)) return false;
        values.push_back(value);
        not_empty.notify_one();
        return true;
    }
    bool dequeue(int64_t &value) {
        std::unique_lock lock(mutex);
        auto until = std::chrono::system_clock::now() + std::chrono::microseconds(20);
        if (!not_empty.wait_until(lock, until, [&] { return !values.empty(); })) return false;
        value = values.front();
        values.pop_front();
        not_full.notify_one();
        return true;
    }
};
INTERLAP_TARGET(Queue)
