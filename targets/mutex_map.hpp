// A hash map guarded by one lock for each of its stripes.
#ifndef INTERLAP_TARGETS_MUTEX_MAP_HPP
#define INTERLAP_TARGETS_MUTEX_MAP_HPP

#include <interlap.hpp>
#include <mutex>
#include <unordered_map>

namespace targets {

using Lock = std::unique_lock<std::mutex>;

// What a conditional write does between its look at the key and its write.
struct KeepsLock {
    static void between(Lock &) {}
};

// Every operation takes effect while it holds the lock of its key.
template <class Write> struct MutexMap {
    static constexpr auto model = "map";
    struct Stripe {
        std::mutex mutex;
        std::unordered_map<int64_t, int64_t> values;
    };
    Stripe stripes[4];

    Stripe &stripe(int64_t key) { return stripes[static_cast<uint64_t>(key) % 4]; }

    bool get(int64_t key, int64_t &value) {
        Stripe &s = stripe(key);
        Lock lock(s.mutex);
        auto found = s.values.find(key);
        if (found == s.values.end()) return false;
        value = found->second;
        return true;
    }
    void put(int64_t key, int64_t value) {
        Stripe &s = stripe(key);
        Lock lock(s.mutex);
        s.values[key] = value;
    }
    bool insert_if_absent(int64_t key, int64_t value) {
        Stripe &s = stripe(key);
        Lock lock(s.mutex);
        if (s.values.count(key) != 0) return false;
        Write::between(lock);
        s.values[key] = value;
        return true;
    }
    bool remove(int64_t key) {
        Stripe &s = stripe(key);
        Lock lock(s.mutex);
        return s.values.erase(key) != 0;
    }
    bool compare_exchange(int64_t key, int64_t old, int64_t value) {
        Stripe &s = stripe(key);
        Lock lock(s.mutex);
        auto found = s.values.find(key);
        if (found == s.values.end() || found->second != old) return false;
        Write::between(lock);
        s.values[key] = value;
        return true;
    }
};

} // namespace targets
#endif
