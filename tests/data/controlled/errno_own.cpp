// A register whose calls leave different numbers in errno and look at them later, between locks.
// Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <cerrno>
#include <mutex>
#include <thread>

struct Register {
    std::mutex mutex;
    int64_t value = 0;

    template <class Step> void keeping(int number, Step step) {
        auto *place = &errno;
        auto self = std::this_thread::get_id();
        errno = number;
        {
            std::lock_guard lock(mutex);
            step();
        }
        std::this_thread::yield();
        assert(errno == number && place == &errno && self == std::this_thread::get_id());
    }
    int64_t read() {
        int64_t seen = 0;
        keeping(ENOENT, [&] { seen = value; });
        return seen;
    }
    void write(int64_t v) {
        keeping(static_cast<int>(v % 100 + 1), [&] { value = v; });
    }
    bool compare_exchange(int64_t old, int64_t v) {
        bool done = false;
        keeping(EAGAIN, [&] {
            done = value == old;
            if (done) value = v;
        });
        return done;
    }
};
INTERLAP_TARGET(Register)
