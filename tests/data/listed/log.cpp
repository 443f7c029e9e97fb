// A log that lists its methods.
#include <interlap_operations.hpp>
#include <mutex>
#include <vector>
struct Log {
    std::mutex mutex;
    std::vector<int> records;
    bool append(int value, long &position) {
        std::lock_guard guard(mutex);
        position = static_cast<long>(records.size());
        records.push_back(value);
        return true;
    }
    std::optional<int> read(size_t position) {
        std::lock_guard guard(mutex);
        if (position >= records.size()) return {};
        return records[position];
    }
    size_t check_tail() {
        std::lock_guard guard(mutex);
        return records.size();
    }
};
INTERLAP_OPERATIONS(Log, append, read, check_tail)
