// A bounded channel that can be closed. WRONG: a sender looks whether it is closed too early.
#include <deque>
#include <interlap_operations.hpp>
#include <mutex>
#include <stdexcept>
#include <string>
struct Closed : std::runtime_error {
    Closed() : runtime_error("closed") {}
};
struct Channel {
    std::mutex mutex;
    std::deque<std::string> inside;
    bool closed = false;
    void look() {
        std::lock_guard<std::mutex> guard(mutex);
        if (closed) throw Closed();
    }
    bool send(const std::string &message) {
#ifdef WRONG
        look();
        std::lock_guard<std::mutex> guard(mutex);
#else
        std::lock_guard<std::mutex> guard(mutex);
        if (closed) throw Closed();
#endif
        if (inside.size() == 2) return false;
        inside.push_back(message);
        return true;
    }
    std::optional<std::string> receive() {
        std::lock_guard<std::mutex> guard(mutex);
        if (inside.empty() && closed) throw Closed();
        if (inside.empty()) return std::nullopt;
        std::string first = inside.front();
        inside.pop_front();
        return first;
    }
    void close() {
        std::lock_guard<std::mutex> guard(mutex);
        closed = true;
    }
};
INTERLAP_OPERATIONS(Channel, send, receive, close)
