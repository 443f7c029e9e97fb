// A register that is made by std::call_once on first use, the first attempt of which throws.
// Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>

struct Register {
    std::once_flag once;
    std::atomic<int> attempts{0};
    std::unique_ptr<std::atomic<int64_t>> value;

    std::atomic<int64_t> &get() {
        for (;;) {
            try {
                std::call_once(once, [this] {
                    if (attempts.fetch_add(1) == 0) throw std::runtime_error("not yet");
                    value = std::make_unique<std::atomic<int64_t>>(0);
                });
                return *value;
            } catch (const std::runtime_error &) {
            }
        }
    }
    int64_t read() { return get().load(); }
    void write(int64_t v) { get().store(v); }
    bool compare_exchange(int64_t old, int64_t v) { return get().compare_exchange_strong(old, v); }
};
INTERLAP_TARGET(Register)
