// A queue behind a lock, also of many values at once.
#include <algorithm>
#include <deque>
#include <interlap_operations.hpp>
#include <mutex>

class Queue {
    std::mutex mutex;
    std::deque<int> values;

  public:
    void enqueue(int value) { enqueue_bulk({value}); }
    std::optional<int> dequeue() {
        std::vector<int> taken = dequeue_bulk(1);
        if (taken.empty()) return std::nullopt;
        return taken[0];
    }
    void enqueue_bulk(const std::vector<int> &more) {
        std::lock_guard<std::mutex> guard(mutex);
        values.insert(values.end(), more.begin(), more.end());
    }
    std::vector<int> dequeue_bulk(size_t most) {
        std::lock_guard<std::mutex> guard(mutex);
        auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(most, values.size()));
        std::vector<int> taken(values.begin(), end);
#ifdef WRONG
        if (most > 1) std::reverse(taken.begin(), taken.end());
#endif
        values.erase(values.begin(), end);
        return taken;
    }
};
INTERLAP_OPERATIONS(Queue, enqueue, dequeue, enqueue_bulk, dequeue_bulk)
