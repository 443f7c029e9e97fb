// Broken: two removals of one value may both free it. Controlled: double free.
#include <interlap.hpp>

#include <atomic>

struct Register {
    std::atomic<int64_t *> value{new int64_t(0)};
    std::atomic<int64_t> copy{0};

    ~Register() { delete value.load(); }
    int64_t read() { return copy; }
    void write(int64_t v) {
        auto *old = value.load();
        value = new int64_t(v); // BUG: not exchange(): another writer may have seen `old`, too
        copy = v;
        delete old;
    }
};
INTERLAP_TARGET(Register)
