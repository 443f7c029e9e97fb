// Strings under keys, a std::map under one lock.
#ifndef INTERLAP_TARGETS_LOCKED_KV_HPP
#define INTERLAP_TARGETS_LOCKED_KV_HPP

#include <interlap.hpp>
#include <map>
#include <mutex>
#include <string>

namespace targets {

using KvLock = std::unique_lock<std::mutex>;

// What an append does between its look at the string and its write.
struct KeepsKvLock {
    static void between(KvLock &) {}
};

// Every operation takes effect while it holds the lock.
template <class Append> struct LockedKv {
    static constexpr auto model = "kv";
    std::mutex mutex;
    std::map<std::string, std::string> values;

    std::string get(const std::string &key) {
        KvLock lock(mutex);
        auto found = values.find(key);
        return found == values.end() ? std::string() : found->second;
    }
    void put(const std::string &key, const std::string &value) {
        KvLock lock(mutex);
        values[key] = value;
    }
    void append(const std::string &key, const std::string &value) {
        KvLock lock(mutex);
        std::string longer = values[key] + value;
        Append::between(lock);
        values[key] = longer;
    }
};

} // namespace targets
#endif
