// Transactions over versions of keys, under one lock.
#ifndef INTERLAP_TARGETS_VERSIONED_STORE_HPP
#define INTERLAP_TARGETS_VERSIONED_STORE_HPP

#include <interlap.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace targets {

// Whether a transaction may commit changes of a key whose latest version is this old.
struct FirstCommitterWins {
    static bool may_replace(int64_t latest, int64_t snapshot) { return latest <= snapshot; }
};

// A commit takes the next time and puts its versions in under the lock; a snapshot is the time of
// its begin, and shows of each key the latest version that is not younger. So it shows all that was
// committed at one instant of its begin, and of two transactions that change one key the second to
// commit finds a version younger than its snapshot.
template <class Conflict> struct VersionedStore {
    static constexpr auto model = "snapshot";
    struct Version {
        int64_t time;
        std::optional<int64_t> value;
    };
    std::mutex mutex;
    std::map<int64_t, std::vector<Version>> versions;
    int64_t now = 0;

    struct Local {
        Local(VersionedStore &, unsigned) {}
        int64_t snapshot = 0;
        std::map<int64_t, std::optional<int64_t>> changes;
    };

    int64_t begin(Local &mine) {
        std::lock_guard<std::mutex> guard(mutex);
        mine.changes.clear();
        return mine.snapshot = now;
    }
    bool read(Local &mine, int64_t key, int64_t &value) {
        auto own = mine.changes.find(key);
        std::optional<int64_t> found;
        if (own != mine.changes.end()) {
            found = own->second;
        } else {
            std::lock_guard<std::mutex> guard(mutex);
            for (const Version &version : versions[key])
                if (version.time <= mine.snapshot) found = version.value;
        }
        if (found) value = *found;
        return found.has_value();
    }
    bool write(Local &mine, int64_t key, int64_t value) {
        mine.changes[key] = value;
        return true;
    }
    bool remove(Local &mine, int64_t key) {
        mine.changes[key] = std::nullopt;
        return true;
    }
    bool commit(Local &mine, int64_t &timestamp) {
        std::lock_guard<std::mutex> guard(mutex);
        for (auto &change : mine.changes) {
            auto &of_key = versions[change.first];
            int64_t latest = of_key.empty() ? 0 : of_key.back().time;
            if (!Conflict::may_replace(latest, mine.snapshot)) return false;
        }
        // What changes nothing has the time of what it read.
        timestamp = mine.changes.empty() ? mine.snapshot : ++now;
        for (auto &change : mine.changes)
            versions[change.first].push_back({now, change.second});
        return true;
    }
    void abort(Local &mine) { mine.changes.clear(); }
};

} // namespace targets
#endif
