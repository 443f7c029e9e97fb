// Broken: two that see the last place free both write, one of them past the block's end. Controlled:
// out of bounds.
#include <interlap.hpp>

#include <atomic>
#include <mutex>

struct Stack {
    static constexpr int room = 3;
    std::mutex mutex;
    std::atomic<int> count{0};
    int64_t *values = new int64_t[room];

    ~Stack() { delete[] values; }
    bool push(int64_t value) {
        if (count == room) return false; // BUG: before the lock
        std::lock_guard lock(mutex);
        values[count] = value;
        count++;
        return true;
    }
    bool pop(int64_t &value) {
        std::lock_guard lock(mutex);
        if (count == 0) return false;
        value = values[--count];
        return true;
    }
};
INTERLAP_TARGET(Stack)
