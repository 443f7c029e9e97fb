// A list whose elements are listed as they are at one instant. WRONG: one after the other.
#include <array>
#include <atomic>
#include <interlap_operations.hpp>
#include <mutex>
#include <vector>
struct List {
    std::mutex mutex;
    std::array<std::atomic<bool>, 4> has{};
    bool toggle(unsigned at) {
        std::lock_guard<std::mutex> guard(mutex);
        bool had = has[at % 4];
        has[at % 4] = !had;
        return had;
    }
    std::vector<unsigned> all() {
#ifndef WRONG
        std::lock_guard<std::mutex> guard(mutex);
#endif
        std::vector<unsigned> there;
        for (unsigned at = 0; at < 4; at++)
            if (has[at]) there.push_back(at);
        return there;
    }
};
INTERLAP_OPERATIONS(List, toggle, all)
