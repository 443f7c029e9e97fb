// A queue with threads of its own, whose thread_local objects are destroyed into the queue's memory
// as they end. Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct Queue;
struct Visitor {
    Queue *queue = nullptr;
    std::unique_ptr<int64_t> stock;
    ~Visitor();
};
inline thread_local Visitor visitor;
inline thread_local std::vector<int64_t> scratch;

struct Queue {
    static constexpr auto model = "fifo";
    std::mutex mutex;
    std::deque<int64_t> values;
    std::atomic<int> begun{0}, ended{0};
    std::thread helpers[2];

    Queue() {
        for (auto &helper : helpers) {
            helper = std::thread([this] {
                visitor.queue = this;
                visitor.stock = std::make_unique<int64_t>(1);
                begun++;
            });
        }
    }
    ~Queue() {
        for (auto &helper : helpers) helper.join();
        assert(begun == 2 && ended == 2);
    }
    bool enqueue(int64_t value) {
        scratch.assign(1, value);
        std::lock_guard lock(mutex);
        assert(scratch.size() == 1);
        values.push_back(scratch[0]);
        return true;
    }
    bool dequeue(int64_t &value) {
        std::lock_guard lock(mutex);
        if (values.empty()) return false;
        value = values.front();
        values.pop_front();
        return true;
    }
};
Visitor::~Visitor() {
    if (!queue) return;
    assert(*stock == 1);
    queue->ended++;
}
INTERLAP_TARGET(Queue)
