// A set as a table of 30,000 slots under a lock. Each call looks through all of it.
#include <atomic>

#include <interlap.hpp>

struct Table {
    static constexpr auto model = "set";
    static constexpr int slots = 30000;
    std::atomic<int64_t> slot[slots] = {};
    std::atomic<bool> locked{false};

    // Looks at every slot; the slot of the key, or a free one.
    int find(int64_t key, bool &is_in) {
        int at = 0;
        is_in = false;
        for (int i = slots - 1; i >= 0; i--) {
            int64_t is = slot[i].load();
            if (!is_in && (is == 0 || is == key + 1)) at = i;
            is_in = is_in || is == key + 1;
        }
        return at;
    }
    void lock() {
        while (locked.exchange(true)) {}
    }
    bool insert(int64_t key) { return set(key, true); }
    bool remove(int64_t key) { return set(key, false); }
    bool contains(int64_t key) {
        bool is_in;
        find(key, is_in);
        return is_in;
    }
    bool set(int64_t key, bool to) {
        lock();
        bool is_in;
        int at = find(key, is_in);
        if (is_in != to) slot[at].store(to ? key + 1 : 0);
        locked.store(false);
        return is_in != to;
    }
};
INTERLAP_TARGET(Table)
