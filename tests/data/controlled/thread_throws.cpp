// A counter whose thread of its own throws what nobody catches, when two threads add at once.
// Controlled: the process ends as it would without control.
#include <interlap.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>

struct Counter {
    std::atomic<int64_t> value{0};
    std::atomic<int> inside{0};

    void add(int64_t amount) {
        bool both = inside++ > 0;
        std::thread adds([this, amount, both] {
            if (both) throw std::runtime_error("two at once");
            value += amount;
        });
        adds.join();
        inside--;
    }
    int64_t read() { return value; }
};
INTERLAP_TARGET(Counter)
