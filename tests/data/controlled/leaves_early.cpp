// Threads that leave by pthread_exit, with a lock held by an object or by a cleanup handler.
// Controlled: clean.
#include <interlap.hpp>

#include <mutex>
#include <pthread.h>
#include <string>

struct Counter {
    std::mutex mutex;
    int64_t value = 0;
    int64_t added = 0;

    static void *locks(void *pointer) {
        Counter &self = *static_cast<Counter *>(pointer);
        std::string text(100, 'x');
        std::lock_guard<std::mutex> guard(self.mutex);
        self.leave();
        return nullptr;
    }
    void leave() {
        value += added;
        pthread_exit(&value);
    }
    static void unlock(void *pointer) { static_cast<Counter *>(pointer)->mutex.unlock(); }
    static void *cleans_up(void *pointer) {
        Counter &self = *static_cast<Counter *>(pointer);
        self.mutex.lock();
        pthread_cleanup_push(unlock, pointer);
        pthread_exit(&self);
        pthread_cleanup_pop(0);
        return nullptr;
    }
    void on_thread(void *(*function)(void *), void *expected) {
        pthread_t thread;
        void *result = nullptr;
        pthread_create(&thread, nullptr, function, this);
        pthread_join(thread, &result);
        if (result != expected) __builtin_trap();
    }

    std::mutex adding;
    void add(int64_t amount) {
        std::lock_guard<std::mutex> guard(adding);
        added = amount;
        on_thread(locks, &value);
    }
    int64_t read() {
        on_thread(cleans_up, this);
        std::lock_guard<std::mutex> guard(mutex);
        return value;
    }
};
INTERLAP_TARGET(Counter)
