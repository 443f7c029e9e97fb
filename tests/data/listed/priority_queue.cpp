// A priority queue that lists its methods.
#include <interlap_operations.hpp>
#include <mutex>
#include <queue>
struct Heap {
    std::mutex mutex;
    std::priority_queue<int, std::vector<int>, std::greater<int>> values;
    void push(int value) {
        std::lock_guard guard(mutex);
        values.push(value);
    }
    bool pop(int &value) {
        std::lock_guard guard(mutex);
        if (values.empty()) return false;
        value = values.top();
        values.pop();
        return true;
    }
    bool empty() {
        std::lock_guard guard(mutex);
        return values.empty();
    }
};
INTERLAP_OPERATIONS(Heap, push, pop, empty)
