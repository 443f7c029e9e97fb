// Strings under keys, by listed methods.
#include <interlap_operations.hpp>
#include <map>
#include <mutex>
struct Strings {
    std::mutex mutex;
    std::map<std::string, std::string> values;
    std::string get(const std::string &key) {
        std::lock_guard guard(mutex);
        return values[key];
    }
    void put(const std::string &key, const std::string &value) {
        std::lock_guard guard(mutex);
        values[key] = value;
    }
    void append(const std::string &key, const std::string &value) {
        std::lock_guard guard(mutex);
        values[key] += value;
    }
};
INTERLAP_OPERATIONS(Strings, get, put, append)
