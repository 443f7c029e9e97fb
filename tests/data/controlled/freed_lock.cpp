// A list whose removal frees a node while it holds the node's lock. Controlled: a use after free,
// though nothing but the lock is used.
#include <interlap.hpp>

#include <map>
#include <mutex>

struct Set {
    struct Node {
        std::mutex mutex;
    };
    std::mutex mutex;
    std::map<int64_t, Node *> nodes;

    ~Set() {
        for (auto &[key, node] : nodes) delete node;
    }
    bool insert(int64_t key) {
        std::lock_guard lock(mutex);
        Node *&node = nodes[key];
        if (node) return false;
        node = new Node;
        return true;
    }
    bool contains(int64_t key) {
        std::lock_guard lock(mutex);
        return nodes.count(key) != 0;
    }
    bool remove(int64_t key) {
        std::lock_guard lock(mutex);
        auto found = nodes.find(key);
        if (found == nodes.end()) return false;
        Node *node = found->second;
        nodes.erase(found);
        std::lock_guard last(node->mutex);
        delete node;
        return true;
    }
};
INTERLAP_TARGET(Set)
