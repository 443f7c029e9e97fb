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
    // For good: the library's own rounds begin anew.
    ~Stack() {
        munmap(state->region, 8192);
        mprotect(state, 4096, PROT_READ);
    }
};
INTERLAP_TARGET(Stack)
