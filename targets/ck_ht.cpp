// ck_ht of Concurrency Kit, of integers: one thread at a time writes, any number read meanwhile.
//
// Without insert_if_absent: in version 0.7.1, ck_ht_put_spmc stores a key a second time if an entry
// that was removed lies before it on the way: it uses that one's place again without having looked
// whether the key was found behind it (src/ck_ht.c; corrected since). It takes four calls of one
// thread. To see it: interlap fuzz ck_ht --cflag -DWITH_PUT
//
// Guarantee: linearizable map.
// Source: manual pages ck_ht_put_spmc(3), ck_ht_set_spmc(3), ck_ht_get_spmc(3) and
// ck_ht_remove_spmc(3).
// Engine: native
// interlap: -lck
#include <cstdlib>
#include <interlap.hpp>
#include <mutex>
#include <vector>

extern "C" {
#include <ck_ht.h>
}

struct Target {
    static constexpr auto library = "ck_ht";
    static constexpr auto version = CK_VERSION;
    static constexpr auto model = "map";

    // Where keys and values begin: some low numbers mean that a place is empty.
    static constexpr uint64_t lowest = 16;

    ck_ht_t table;
    std::mutex writes;

    static void *allocate(size_t bytes) { return std::malloc(bytes); }
    // `later`: readers may still look at it. Threads end before the structure does, so the blocks
    // of a round, which double in size, are kept by whoever wrote last.
    static void release(void *block, size_t, bool later) {
        if (later)
            replaced().push_back(block);
        else
            std::free(block);
    }
    static std::vector<void *> &replaced() {
        static std::vector<void *> blocks;
        return blocks;
    }

    explicit Target(const interlap::config &config) {
        static ck_malloc allocator = {allocate, nullptr, release};
        if (!ck_ht_init(&table, CK_HT_MODE_DIRECT, nullptr, &allocator, 8, 6602834))
            interlap::fail(config, "ck_ht_init failed");
    }
    ~Target() {
        ck_ht_destroy(&table);
        for (void *block : replaced()) std::free(block);
        replaced().clear();
    }

    ck_ht_hash_t hash(int64_t key) {
        ck_ht_hash_t hash;
        ck_ht_hash_direct(&hash, &table, lowest + static_cast<uint64_t>(key));
        return hash;
    }
    ck_ht_entry_t entry(int64_t key, int64_t value = 0) {
        ck_ht_entry_t entry;
        ck_ht_entry_set_direct(&entry, hash(key), lowest + static_cast<uint64_t>(key),
                               lowest + static_cast<uint64_t>(value));
        return entry;
    }

    bool get(int64_t key, int64_t &value) {
        ck_ht_entry_t found = entry(key);
        if (!ck_ht_get_spmc(&table, hash(key), &found)) return false;
        value = static_cast<int64_t>(ck_ht_entry_value_direct(&found) - lowest);
        return true;
    }
    void put(int64_t key, int64_t value) {
        std::lock_guard<std::mutex> guard(writes);
        ck_ht_entry_t wanted = entry(key, value);
        if (!ck_ht_set_spmc(&table, hash(key), &wanted)) std::abort();
    }
#ifdef WITH_PUT
    bool insert_if_absent(int64_t key, int64_t value) {
        std::lock_guard<std::mutex> guard(writes);
        ck_ht_entry_t wanted = entry(key, value);
        return ck_ht_put_spmc(&table, hash(key), &wanted);
    }
#endif
    bool remove(int64_t key) {
        std::lock_guard<std::mutex> guard(writes);
        ck_ht_entry_t wanted = entry(key);
        return ck_ht_remove_spmc(&table, hash(key), &wanted);
    }
};
INTERLAP_TARGET(Target)
