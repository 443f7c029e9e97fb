// A stack whose calls run in threads that std::async starts for each. Controlled: clean.
#include <interlap.hpp>

#include <future>
#include <mutex>
#include <vector>

struct Stack {
    std::mutex mutex;
    std::vector<int64_t> values;

    bool push(int64_t value) {
        auto done = std::async(std::launch::async, [&] {
            std::lock_guard lock(mutex);
            values.push_back(value);
            return true;
        });
        return done.get();
    }
    bool pop(int64_t &value) {
        std::promise<bool> promise;
        auto found = promise.get_future();
        std::thread([&] {
            std::unique_lock lock(mutex);
            bool any = !values.empty();
            if (any) {
                value = values.back();
                values.pop_back();
            }
            lock.unlock();
            promise.set_value_at_thread_exit(any);
        }).join();
        return found.get();
    }
};
INTERLAP_TARGET(Stack)
