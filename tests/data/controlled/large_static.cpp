// A stack whose nodes are found through 8 MiB of static data, more than is put back for each round:
// left as it is, it would lead into the heap of the round before.
#include <interlap.hpp>
#include <mutex>

static int64_t *slots[1 << 20];

struct Stack {
    static constexpr auto model = "lifo";
    std::mutex mutex;
    size_t count = 0;

    bool push(int64_t value) {
        std::lock_guard lock(mutex);
        if (count == std::size(slots)) return false;
        if (!slots[count]) slots[count] = new int64_t;
        *slots[count++] = value;
        return true;
    }
    bool pop(int64_t &value) {
        std::lock_guard lock(mutex);
        if (count == 0) return false;
        value = *slots[--count];
        return true;
    }
};
INTERLAP_TARGET(Stack)
