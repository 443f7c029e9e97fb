// Broken: pop reads a node that another pop may have freed. Controlled: use after free.
#include <interlap.hpp>

#include <atomic>

struct Stack {
    struct Node {
        int64_t value;
        std::atomic<Node *> next;
    };
    std::atomic<Node *> top{nullptr};

    ~Stack() {
        while (Node *node = top) {
            top = node->next.load();
            delete node;
        }
    }
    bool push(int64_t value) {
        auto *node = new Node{value, top.load()};
        for (Node *seen = node->next; !top.compare_exchange_weak(seen, node); node->next = seen) {}
        return true;
    }
    bool pop(int64_t &value) {
        Node *node = top;
        while (node && !top.compare_exchange_weak(node, node->next)) {} // BUG: node may be gone
        if (!node) return false;
        value = node->value;
        delete node;
        return true;
    }
};
INTERLAP_TARGET(Stack)
