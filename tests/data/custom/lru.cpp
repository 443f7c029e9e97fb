// A cache that evicts what was used longest ago. WRONG: a hit is noted after the lock.
#include <interlap_operations.hpp>
#include <list>
#include <mutex>
#include <string>
struct Lru {
    std::mutex mutex;
    std::list<std::pair<int, std::string>> entries; // the last used first
    auto find(int key) {
        auto at = entries.begin();
        while (at != entries.end() && at->first != key) ++at;
        return at;
    }
    void use(int key) {
        auto at = find(key);
        if (at != entries.end()) entries.splice(entries.begin(), entries, at);
    }
    std::optional<std::string> get(int key) {
        std::optional<std::string> found;
        {
            std::lock_guard<std::mutex> guard(mutex);
            auto at = find(key);
            if (at != entries.end()) found = at->second;
#ifndef WRONG
            use(key);
#endif
        }
#ifdef WRONG
        std::lock_guard<std::mutex> guard(mutex);
        use(key);
#endif
        return found;
    }
    void put(int key, const std::string &value) {
        std::lock_guard<std::mutex> guard(mutex);
        auto at = find(key);
        if (at != entries.end()) entries.erase(at);
        entries.emplace_front(key, value);
        if (entries.size() > 2) entries.pop_back();
    }
};
INTERLAP_OPERATIONS(Lru, get, put)
