// NAME: a store with transactions under test. (These first lines are shown by `interlap targets`;
// say what it is.)
//
// Guarantee: snapshot isolation.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for transactions that no order explains
#include <interlap.hpp>

// Replace from here: the store that you want to test, or the header that has it.
#include <map>
#include <mutex>
#include <optional>

struct Target {
    // What it promises: "snapshot" (without this line), or "serializable".
    static constexpr auto model = "snapshot";

    std::mutex mutex;
    // A value and when it was committed, by key; what was removed has none.
    struct Version {
        std::optional<int64_t> value;
        int64_t time = 0;
    };
    std::map<int64_t, Version> committed;
    int64_t now = 0;

    // The transaction of a thread, or its session: made before its first call. One that is under
    // way when this is destroyed is to be aborted.
    struct Local {
        Local(Target &, unsigned) {}
        std::map<int64_t, Version> snapshot;
        std::map<int64_t, std::optional<int64_t>> changes;
    };

    void begin(Local &mine) { // or int64_t: its read timestamp
        std::lock_guard<std::mutex> guard(mutex);
        mine.snapshot = committed;
        mine.changes.clear();
    }
    bool read(Local &mine, int64_t key, int64_t &value) { // false: absent
        auto own = mine.changes.find(key);
        auto found = own != mine.changes.end() ? own->second : mine.snapshot[key].value;
        if (found) value = *found;
        return found.has_value();
    }
    bool write(Local &mine, int64_t key, int64_t value) { // false: refused; an abort follows
        mine.changes[key] = value;
        return true;
    }
    bool remove(Local &mine, int64_t key) { // false: refused; an abort follows
        mine.changes[key] = std::nullopt;
        return true;
    }
    // false: rolled back. Also possible: commit(Local &, int64_t &timestamp), its commit timestamp.
    // A commit that may or may not have happened returns interlap::status::unknown.
    bool commit(Local &mine) {
        std::lock_guard<std::mutex> guard(mutex);
        for (auto &change : mine.changes) // somebody else has changed the key since
            if (committed[change.first].time != mine.snapshot[change.first].time) return false;
        now++;
        for (auto &change : mine.changes) committed[change.first] = {change.second, now};
        return true;
    }
    void abort(Local &mine) { mine.changes.clear(); }
};
INTERLAP_TARGET(Target)
