// NAME: a map under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable map.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap.hpp>

// Replace from here: the structure that you want to test, or the header that has it.
#include <map>
#include <mutex>

struct Target {
    // What it promises; without this line: "map".
    static constexpr auto model = "map";

    std::mutex mutex;
    std::map<int64_t, int64_t> values;

    bool get(int64_t key, int64_t &value) { // false: absent
        std::lock_guard<std::mutex> guard(mutex);
        auto found = values.find(key);
        if (found == values.end()) return false;
        value = found->second;
        return true;
    }
    // Leave out what the structure does not have of the following; also possible:
    //     bool compare_exchange(int64_t key, int64_t old, int64_t value)
    void put(int64_t key, int64_t value) {
        std::lock_guard<std::mutex> guard(mutex);
        values[key] = value;
    }
    bool insert_if_absent(int64_t key, int64_t value) { // false: present
        std::lock_guard<std::mutex> guard(mutex);
        return values.emplace(key, value).second;
    }
    bool remove(int64_t key) { // false: absent
        std::lock_guard<std::mutex> guard(mutex);
        return values.erase(key) != 0;
    }
    // What each thread needs for itself (a session, a cursor): see Local in interlap.hpp.
};
INTERLAP_TARGET(Target)
