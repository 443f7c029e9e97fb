// Forgets one block in each round. Controlled: clean, with a warning.
#include <interlap.hpp>

#include <atomic>

struct Register {
    std::atomic<int64_t> *value = new std::atomic<int64_t>(0);
    int64_t read() { return *value; }
    void write(int64_t v) { *value = v; }
};
INTERLAP_TARGET(Register)
