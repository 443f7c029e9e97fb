// Broken: a lost race leaves an index that is far out of range. Controlled: SIGSEGV, and the run goes
// on.
#include <interlap.hpp>

#include <atomic>

struct Stack {
    std::atomic<int64_t> count{0};
    std::atomic<int64_t> values[4096];

    bool push(int64_t value) {
        int64_t at = count.load();
        if (at != count.load()) values[int64_t{1} << 40] = value; // BUG: somebody came in between
        values[at] = value;
        count = at + 1;
        return true;
    }
    bool pop(int64_t &) { return false; }
};
INTERLAP_TARGET(Stack)
