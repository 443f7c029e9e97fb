// Broken: the first of the array's elements is not always freed where it begins. Controlled: bad
// free.
#include <interlap.hpp>

#include <atomic>
#include <cstdlib>

struct Queue {
    static constexpr auto model = "pool:empty=none";
    static constexpr int room = 4096;
    int64_t *values = static_cast<int64_t *>(malloc(room * sizeof(int64_t)));
    std::atomic<int64_t *> first{values};

    ~Queue() { free(first.load()); } // BUG: `first` has moved
    bool enqueue(int64_t) { return first.fetch_add(1) == nullptr; }
    bool dequeue(int64_t &) { return false; }
};
INTERLAP_TARGET(Queue)
