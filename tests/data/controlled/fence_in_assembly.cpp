// Two flags, of which a thread sets its own and looks at the other's, with a fence between them that
// the compiler does not know. Controlled: clean, as stores wait in no buffer here.
#include <interlap.hpp>

#include <atomic>
#include <cassert>

struct Flags {
    std::atomic<int> flags[2] = {0, 0};
    std::atomic<int64_t> sum{0};
    bool saw[2] = {true, true};

    struct Local {
        unsigned thread;
        Local(Flags &, unsigned thread) : thread(thread) {}
    };
    void add(Local &local, int64_t amount) {
        if (local.thread < 2) {
            flags[local.thread].store(1, std::memory_order_relaxed);
            asm volatile("mfence" ::: "memory");
            bool seen = flags[!local.thread].load(std::memory_order_relaxed);
            saw[local.thread] = saw[local.thread] && seen;
        }
        sum.fetch_add(amount);
    }
    int64_t read() { return sum.load(); }
    ~Flags() { assert(saw[0] || saw[1] || !"neither saw the other"); }
};
INTERLAP_TARGET(Flags)
