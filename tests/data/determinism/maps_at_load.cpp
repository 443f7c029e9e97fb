// A stack with an allocator of its own, whose state and region are mapped while the library is
// loaded: every round must find them as they were then.
#include <cstdlib>
#include <interlap.hpp>
#include <mutex>
#include <sys/mman.h>

static void *map(size_t bytes) {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

struct State {
    size_t used;
    char *region;
};
static State *state = [] {
    auto *state = static_cast<State *>(map(1 << 20));
    state->region = static_cast<char *>(map(64 << 20));
    return state;
}();

struct Stack {
    struct Node {
        Node *next;
        int64_t value;
    };
    std::mutex mutex;
    Node *head = nullptr;

    Stack() {
        if (state->used) abort();
        state->region[(64 << 20) - 1] = 1;
    }
    bool push(int64_t value) {
        std::lock_guard<std::mutex> guard(mutex);
        auto *node = reinterpret_cast<Node *>(state->region + state->used);
        state->used += 5000;
        if (node->next || node->value) abort();
        node->value = value;
        node->next = head;
        head = node;
        return true;
    }
    bool pop(int64_t &value) {
        std::lock_guard<std::mutex> guard(mutex);
        Node *node = head;
        if (!node) return false;
        head = node->next;
        value = node->value;
        return true;
    }
    // Now and then for good, as far as this round can tell.
    ~Stack() {
        char *end = state->region + (64 << 20);
        if (state->used % 3 == 0) munmap(state->region, 8192);
        if (state->used % 3 == 1) mprotect(state->region, 16 << 20, PROT_READ);
        if (state->used % 7 == 0)
            mmap(end - 4096, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
};
INTERLAP_TARGET(Stack)
