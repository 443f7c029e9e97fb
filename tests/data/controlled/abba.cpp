// Broken: enqueue and dequeue take the same two locks in opposite orders. Controlled: deadlock.
#include <interlap.hpp>

#include <deque>
#include <mutex>

struct Queue {
    static constexpr auto model = "fifo";
    std::mutex front, back;
    std::deque<int64_t> values;

    bool enqueue(int64_t value) {
        std::lock_guard first(back);
        std::lock_guard second(front); // BUG: dequeue takes them the other way round
        values.push_back(value);
        return true;
    }
    [[gnu::noinline]] bool dequeue(int64_t &value) {
        std::lock_guard first(front);
        std::lock_guard second(back);
        if (values.empty()) return false;
        value = values.front();
        values.pop_front();
        return true;
    }
};
INTERLAP_TARGET(Queue)
