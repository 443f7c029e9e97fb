// A ring with peek(). WRONG: peek reads the place before it looks whether something is there.
#include <interlap_operations.hpp>
#include <mutex>
struct Ring {
    std::mutex mutex;
    int values[2] = {}, first = 0, count = 0;
    bool push(int value) {
        std::lock_guard<std::mutex> guard(mutex);
        if (count == 2) return false;
        values[(first + count++) % 2] = value;
        return true;
    }
    bool pop(int &value) {
        std::lock_guard<std::mutex> guard(mutex);
        if (count == 0) return false;
        value = values[first];
        first = (first + 1) % 2, count--;
        return true;
    }
    std::optional<int> peek() {
#ifdef WRONG
        int value;
        {
            std::lock_guard<std::mutex> guard(mutex);
            value = values[first];
        }
        std::lock_guard<std::mutex> guard(mutex);
        if (count == 0) return std::nullopt;
        return value;
#else
        std::lock_guard<std::mutex> guard(mutex);
        if (count == 0) return std::nullopt;
        return values[first];
#endif
    }
};
INTERLAP_OPERATIONS(Ring, push, pop, peek)
