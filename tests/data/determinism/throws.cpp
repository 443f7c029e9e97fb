// Throws in every round: the first exception of a process has the unwinder set itself up. Draws
// random numbers of which the C library keeps the state, and counts in a variable of the environment.
#include <atomic>
#include <cstdlib>
#include <interlap.hpp>
#include <mutex>
#include <string>

struct Target {
    static constexpr auto model = "counter";
    std::mutex mutex;
    int64_t value = 0;
    std::atomic<int64_t> draws[8] = {};

    int64_t add(int64_t amount) {
        const char *before = std::getenv("INTERLAP_TEST_CALLS");
        const int calls = before ? std::atoi(before) : 0;
        setenv("INTERLAP_TEST_CALLS", std::to_string(calls + 1).c_str(), 1);
        for (long more = (calls + lrand48()) % 4; more > 0; more--)
            draws[static_cast<int>(drand48() * 8)]++;
        try {
            std::lock_guard<std::mutex> guard(mutex);
            value += amount;
            throw value - amount;
        } catch (int64_t before) {
            return before;
        }
    }
    int64_t read() {
        std::lock_guard<std::mutex> guard(mutex);
        return value;
    }
};
INTERLAP_TARGET(Target)
