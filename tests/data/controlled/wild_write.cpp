// Broken: a writer that another has overtaken writes far out of range. Controlled: SIGSEGV, and the
// run goes on.
#include <interlap.hpp>

#include <atomic>

struct Register {
    std::atomic<int64_t> value{0}, writes{0};
    int64_t *far = nullptr;

    int64_t read() { return value; }
    void write(int64_t v) {
        int64_t before = writes;
        value = v;
        if (writes.fetch_add(1) != before) far[int64_t{1} << 40] = v; // BUG
    }
};
INTERLAP_TARGET(Register)
