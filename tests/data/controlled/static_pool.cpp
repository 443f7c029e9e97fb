// A pool of threads that lives in a static object, as long as the process. Controlled: clean.
#include <interlap.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

struct Pool {
    std::mutex mutex;
    std::condition_variable woken;
    std::deque<std::function<void()>> tasks;
    std::thread thread{[this] {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock<std::mutex> lock(mutex);
                woken.wait(lock, [this] { return !tasks.empty(); });
                task = std::move(tasks.front());
                tasks.pop_front();
            }
            if (!task) return;
            task();
        }
    }};
    void run(std::function<void()> task) {
        std::lock_guard<std::mutex> guard(mutex);
        tasks.push_back(std::move(task));
        woken.notify_one();
    }
    ~Pool() {
        run(nullptr);
        thread.join();
    }
};

struct Counter {
    std::mutex mutex;
    int64_t value = 0;
    void add(int64_t amount) {
        static Pool pool;
        auto done = std::make_shared<std::promise<void>>();
        auto finished = done->get_future();
        pool.run([this, amount, done] {
            {
                std::lock_guard<std::mutex> guard(mutex);
                value += amount;
            }
            done->set_value();
        });
        finished.get();
    }
    int64_t read() {
        std::lock_guard<std::mutex> guard(mutex);
        return value;
    }
};
INTERLAP_TARGET(Counter)
