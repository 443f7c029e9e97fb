// Broken: a writer waits for its helper's answer without looking whether it has come already.
// Controlled: deadlock.
#include <interlap.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

struct Register {
    std::mutex mutex, writers;
    std::condition_variable asked, answered;
    int64_t value = 0, wanted = 0;
    bool pending = false, stop = false;
    std::thread helper{[this] { help(); }};

    ~Register() {
        {
            std::lock_guard lock(mutex);
            stop = true;
        }
        asked.notify_one();
        helper.join();
    }
    void help() {
        std::unique_lock lock(mutex);
        for (;;) {
            asked.wait(lock, [&] { return pending || stop; });
            if (!pending) return;
            value = wanted;
            pending = false;
            answered.notify_one();
        }
    }
    int64_t read() {
        std::lock_guard lock(mutex);
        return value;
    }
    void write(int64_t v) {
        std::lock_guard writer(writers);
        {
            std::lock_guard lock(mutex);
            wanted = v;
            pending = true;
        }
        asked.notify_one();
        std::unique_lock lock(mutex);
        answered.wait(lock); // BUG: the helper may have answered
    }
};
INTERLAP_TARGET(Register)
