// One atomic word.
#ifndef INTERLAP_TARGETS_ATOMIC_REGISTER_HPP
#define INTERLAP_TARGETS_ATOMIC_REGISTER_HPP

#include <atomic>
#include <interlap.hpp>

namespace targets {

struct OneStep {
    static bool exchange(std::atomic<int64_t> &word, int64_t old, int64_t value) {
        return word.compare_exchange_strong(old, value);
    }
};

template <class Exchange> struct AtomicRegister {
    static constexpr auto model = "register";
    std::atomic<int64_t> word{0};

    int64_t read() { return word.load(); }
    void write(int64_t value) { word.store(value); }
    bool compare_exchange(int64_t old, int64_t value) {
        return Exchange::exchange(word, old, value);
    }
};

} // namespace targets
#endif
