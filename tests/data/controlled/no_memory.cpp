// Wants more memory than there is, and does with less. Controlled: clean.
#include <interlap.hpp>

#include <cstdlib>
#include <mutex>
#include <new>

struct Counter {
    std::mutex mutex;
    int64_t value = 0;
    // Read each time: not known to the compiler.
    volatile size_t petabyte = size_t(1) << 50;

    int64_t add(int64_t amount) {
        char *buffer = nullptr;
        try {
            buffer = new char[petabyte];
        } catch (const std::bad_alloc &) {
            if (new (std::nothrow) char[petabyte] || std::malloc(petabyte)) __builtin_trap();
            buffer = new char[100];
        }
        // Under control as before the exception: threads wait for each other here.
        std::lock_guard<std::mutex> guard(mutex);
        delete[] buffer;
        int64_t before = value;
        value += amount;
        return before;
    }
    int64_t read() {
        std::lock_guard<std::mutex> guard(mutex);
        return value;
    }
};
INTERLAP_TARGET(Counter)
