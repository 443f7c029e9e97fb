// A queue that throws and catches inside its calls, at the same time on all threads.
// Controlled: clean.
#include <interlap.hpp>

#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>

struct Queue {
    static constexpr auto model = "fifo";
    std::mutex mutex;
    std::deque<int64_t> values;

    int64_t take() {
        std::lock_guard lock(mutex);
        if (values.empty()) throw std::out_of_range("empty");
        int64_t value = values.front();
        values.pop_front();
        return value;
    }
    bool enqueue(int64_t value) {
        try {
            std::lock_guard lock(mutex);
            values.push_back(value);
            throw std::to_string(value);
        } catch (const std::string &thrown) {
            // Others throw while this exception is being handled.
            std::lock_guard lock(mutex);
            return thrown == std::to_string(value);
        }
    }
    bool dequeue(int64_t &value) {
        try {
            value = take();
            return true;
        } catch (const std::out_of_range &) {
            std::lock_guard lock(mutex);
            return std::uncaught_exceptions() != 0;
        }
    }
};
INTERLAP_TARGET(Queue)
