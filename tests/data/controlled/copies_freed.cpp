// A register of three words, whose readers copy a version that a writer frees. Controlled: a use
// after free, though only functions of the C library look at the memory, and a compiler would copy
// so few bytes without them.
#include <interlap.hpp>

#include <atomic>
#include <cstring>

struct Register {
    static constexpr size_t words = 3;
    struct Version {
        int64_t values[words];
    };
    std::atomic<Version *> current{new Version{}};

    ~Register() { delete current; }
    int64_t read() {
        Version copy;
        memcpy(&copy, current.load(), sizeof copy);
        return copy.values[words - 1];
    }
    void write(int64_t value) {
        auto *version = new Version{};
        version->values[words - 1] = value;
        delete current.exchange(version);
    }
};
INTERLAP_TARGET(Register)
