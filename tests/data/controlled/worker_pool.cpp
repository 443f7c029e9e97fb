// A queue that two threads of its own work on: started in the constructor, joined in the
// destructor; callers wait for their answers. Controlled: clean.
#include <interlap.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

struct Queue {
    static constexpr auto model = "fifo";
    std::mutex mutex, values_mutex;
    std::condition_variable work, done;
    std::deque<std::function<void()>> tasks;
    std::deque<int64_t> values;
    bool stop = false;
    std::vector<std::thread> workers;

    Queue() {
        for (int i = 0; i < 2; i++) workers.emplace_back([this] { serve(); });
    }
    ~Queue() {
        {
            std::lock_guard lock(mutex);
            stop = true;
        }
        work.notify_all();
        for (auto &worker : workers) worker.join();
    }
    void serve() {
        std::unique_lock lock(mutex);
        for (;;) {
            work.wait(lock, [&] { return stop || !tasks.empty(); });
            if (tasks.empty()) return;
            auto task = std::move(tasks.front());
            tasks.pop_front();
            lock.unlock();
            task();
            lock.lock();
            done.notify_all();
        }
    }
    void have(const std::function<void()> &task) {
        bool finished = false;
        std::unique_lock lock(mutex);
        tasks.push_back([&] {
            task();
            std::lock_guard inner(mutex);
            finished = true;
        });
        work.notify_one();
        done.wait(lock, [&] { return finished; });
    }
    bool enqueue(int64_t value) {
        have([&] {
            std::lock_guard lock(values_mutex);
            values.push_back(value);
        });
        return true;
    }
    bool dequeue(int64_t &value) {
        bool found = false;
        have([&] {
            std::lock_guard lock(values_mutex);
            found = !values.empty();
            if (!found) return;
            value = values.front();
            values.pop_front();
        });
        return found;
    }
};
INTERLAP_TARGET(Queue)
