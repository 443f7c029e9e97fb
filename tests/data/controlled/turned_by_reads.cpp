// Readers share a lock, but find() turns the tree: it soon has circles, and some searches never end.
#include <interlap.hpp>
#include <boost/intrusive/splay_set.hpp>
#include <memory>
#include <mutex>
#include <shared_mutex>
struct Node : boost::intrusive::bs_set_base_hook<> {
    int64_t key;
    explicit Node(int64_t key) : key(key) {}
    friend bool operator<(const Node &a, const Node &b) { return a.key < b.key; }
};
struct ByKey {
    bool operator()(int64_t a, const Node &b) const { return a < b.key; }
    bool operator()(const Node &a, int64_t b) const { return a.key < b; }
};
struct Set {
    boost::intrusive::splay_set<Node> nodes;
    std::shared_mutex mutex;
    ~Set() { nodes.clear_and_dispose([](Node *node) { delete node; }); }
    bool insert(int64_t key) {
        auto node = std::make_unique<Node>(key);
        std::unique_lock<std::shared_mutex> lock(mutex);
        if (!nodes.insert(*node).second) return false;
        node.release();
        return true;
    }
    bool remove(int64_t key) {
        std::unique_lock<std::shared_mutex> lock(mutex);
        auto at = nodes.find(key, ByKey());
        if (at == nodes.end()) return false;
        nodes.erase_and_dispose(at, [](Node *node) { delete node; });
        return true;
    }
    bool contains(int64_t key) {
        std::shared_lock<std::shared_mutex> lock(mutex);
        return nodes.find(key, ByKey()) != nodes.end();
    }
};
INTERLAP_TARGET(Set)
