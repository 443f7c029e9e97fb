// A deque that lists its methods.
#include <deque>
#include <interlap_operations.hpp>
#include <mutex>
struct Deque {
    std::mutex mutex;
    std::deque<int> values;
    void push(int value) {
        std::lock_guard guard(mutex);
        values.push_back(value);
    }
    std::optional<int> take() {
        std::lock_guard guard(mutex);
        if (values.empty()) return {};
        int value = values.back();
        values.pop_back();
        return value;
    }
    std::optional<int> steal() {
        std::lock_guard guard(mutex);
        if (values.empty()) return {};
        int value = values.front();
        values.pop_front();
        return value;
    }
};
INTERLAP_OPERATIONS(Deque, push, take, steal)
