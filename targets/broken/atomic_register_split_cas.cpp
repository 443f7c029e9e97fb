// A register whose compare_exchange is a load and a store.
//
// Bug: another thread may change the register between the two (marked "BUG" below): two exchanges
// of the same old value both succeed, or a write vanishes.
// Native: yes
#include "../atomic_register.hpp"

struct TwoSteps {
    static bool exchange(std::atomic<int64_t> &word, int64_t old, int64_t value) {
        if (word.load() != old) return false;
        word.store(value); // BUG: the register may hold something else by now
        return true;
    }
};
using Target = targets::AtomicRegister<TwoSteps>;
INTERLAP_TARGET(Target)
