// A map that lists its methods; its keys are short.
#include <interlap_operations.hpp>
#include <map>
#include <mutex>
struct Map {
    mutable std::mutex mutex;
    std::map<short, long> values;
    std::optional<long> get(short key) const {
        std::lock_guard guard(mutex);
        auto found = values.find(key);
        return found == values.end() ? std::optional<long>() : found->second;
    }
    void put(short key, long value) {
        std::lock_guard guard(mutex);
        values[key] = value;
    }
    bool remove(short key) {
        std::lock_guard guard(mutex);
        return values.erase(key) > 0;
    }
    bool insert_if_absent(short key, long value) {
        std::lock_guard guard(mutex);
        return values.emplace(key, value).second;
    }
};
INTERLAP_OPERATIONS(Map, get, put, remove, insert_if_absent)
