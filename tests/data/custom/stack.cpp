// A stack that lists its methods. WRONG: pop lets go of the lock between its look and its removal.
#include <interlap_operations.hpp>
#include <mutex>
#include <vector>
class Stack {
    std::mutex mutex;
    std::vector<int> values;

  public:
    void push(int value) {
        std::lock_guard<std::mutex> guard(mutex);
        values.push_back(value);
    }
    std::optional<int> pop() {
        std::unique_lock<std::mutex> guard(mutex);
        if (values.empty()) return std::nullopt;
        int value = values.back();
#ifdef WRONG
        guard.unlock();
        guard.lock();
        if (values.empty()) return std::nullopt;
#endif
        values.pop_back();
        return value;
    }
    size_t size() {
        std::lock_guard<std::mutex> guard(mutex);
        return values.size();
    }
};
INTERLAP_OPERATIONS(Stack, push, pop, size)
