// Broken: a thread that leaves frees what the others still use. Controlled: use after free.
#include <interlap.hpp>

#include <atomic>

struct Register {
    std::atomic<int64_t> value{0};
    std::atomic<std::atomic<int> *> uses{new std::atomic<int>{0}};

    struct Local {
        Register &shared;
        Local(Register &shared, unsigned) : shared(shared) {}
        ~Local() { delete shared.uses.exchange(nullptr); } // BUG: others may still count
    };
    int64_t read(Local &) {
        count();
        return value;
    }
    void write(Local &, int64_t next) {
        count();
        value = next;
    }
    void count() {
        if (auto *seen = uses.load()) ++*seen;
    }
};
INTERLAP_TARGET(Register)
