// A stack of nodes from a pool, whose heads are swapped with a tag in 128 bits. Controlled: clean.
// interlap: -mcx16
#include <interlap.hpp>

#include <atomic>

struct Stack {
    static constexpr unsigned nodes = 4096;
    using Word = unsigned __int128;
    struct Node {
        int64_t value;
        std::atomic<uint64_t> next;
    };
    // Low half: index of the top node plus 1; high half: tag.
    alignas(16) Word top = 0, spare = 0;
    Node pool[nodes];

    Stack() {
        for (uint64_t i = 0; i < nodes; i++) put(spare, i + 1);
    }
    static bool swap(Word &head, Word &old, Word next) {
        Word seen = __sync_val_compare_and_swap(&head, old, next);
        bool done = seen == old;
        old = seen;
        return done;
    }
    static Word make(Word old, uint64_t index) {
        return (static_cast<Word>(static_cast<uint64_t>(old >> 64) + 1) << 64) | index;
    }
    void put(Word &head, uint64_t index) {
        Word old = 0;
        do pool[index - 1].next.store(static_cast<uint64_t>(old));
        while (!swap(head, old, make(old, index)));
    }
    uint64_t get(Word &head) {
        Word old = 0;
        for (;;) {
            auto index = static_cast<uint64_t>(old);
            // A first look with a guess of 0 reads the head.
            if (index == 0) {
                if (swap(head, old, old) && old == 0) return 0;
                if (static_cast<uint64_t>(old) == 0) return 0;
                continue;
            }
            if (swap(head, old, make(old, pool[index - 1].next.load()))) return index;
        }
    }
    bool push(int64_t value) {
        uint64_t index = get(spare);
        if (index == 0) return false;
        pool[index - 1].value = value;
        put(top, index);
        return true;
    }
    bool pop(int64_t &value) {
        uint64_t index = get(top);
        if (index == 0) return false;
        value = pool[index - 1].value;
        put(spare, index);
        return true;
    }
};
INTERLAP_TARGET(Stack)
