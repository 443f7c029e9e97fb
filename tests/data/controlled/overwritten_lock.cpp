// A counter that writes over its lock when two threads add at once. Controlled: the next lock fails,
// as without control, and nobody speaks of a kind of mutex that the target does not use.
#include <interlap.hpp>

#include <atomic>
#include <cstring>
#include <mutex>

struct Counter {
    std::atomic<int> inside{0};
    char name[8] = {};
    std::mutex mutex;
    int64_t value = 0;
    size_t bytes = sizeof(name) + sizeof(mutex);

    void add(int64_t amount) {
        bool both = inside++ > 0;
        {
            std::lock_guard lock(mutex);
            value += amount;
        }
        if (both) memset(name, 'x', bytes);
        inside--;
    }
    int64_t read() {
        std::lock_guard lock(mutex);
        return value;
    }
};
INTERLAP_TARGET(Counter)
