// interlap: -std=c++20
// Pairs of methods around threads and what they wait by, as in pairs.cpp: with -DWRONG something is
// written too late or read too early. Most calls have threads and variables of their own.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <future>
#include <interlap_operations.hpp>
#include <latch>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <semaphore.h>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <threads.h>
#include <unistd.h>

#ifdef WRONG
constexpr bool wrong = true;
#else
constexpr bool wrong = false;
#endif
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

// Reads that stay where they are. What a wrong half reads may be anything.
__attribute__((noipa)) static void look(long) {}
__attribute__((noipa)) static void see(long value, long expected) {
    if (!wrong && value != expected) std::abort();
}

template <class A, class B> void at_once(A one, B two) {
    std::thread other(two);
    one();
    other.join();
}

// What one thread tells another, and whether it did.
struct Message {
    int data = 0;
    bool is_there = false;
};

struct Threads {
    void by_create() {
        int data = !wrong;
        std::thread other([&] { see(data, 1); });
        if (wrong) data = 1;
        other.join();
    }

    static void *set(void *data) { return *static_cast<int *>(data) = 1, nullptr; }
    void by_pthread_join() {
        int data = 0;
        pthread_t other;
        pthread_create(&other, nullptr, set, &data);
        if (wrong) look(data);
        pthread_join(other, nullptr);
        see(data, 1);
    }
    // A try that fails orders nothing.
    void by_tryjoin() {
        int data = 0;
        pthread_t other;
        pthread_create(&other, nullptr, set, &data);
        bool has = pthread_tryjoin_np(other, nullptr) == 0;
        if (has || wrong) see(data, 1);
        if (!has) pthread_join(other, nullptr);
    }
    void by_thrd() {
        int data = 0;
        thrd_t other;
        thrd_create(&other, [](void *data) { return *static_cast<int *>(data) = 1; }, &data);
        if (wrong) look(data);
        thrd_join(other, nullptr);
        see(data, 1);
    }
    void by_jthread() {
        int data = 0;
        std::optional<std::jthread> other([&] { data = 1; });
        if (!wrong) other.reset();
        see(data, 1);
    }

    // Its stack is the caller's, so that all must be over at the end.
    void by_detached() {
        int data = 0;
        std::atomic<bool> flag{false}, is_over{false};
        std::thread([&] {
            data = 1, flag.store(true, wrong ? relaxed : release);
            is_over.store(true, release);
        }).detach();
        while (!flag.load(acquire)) std::this_thread::yield();
        see(data, 1);
        while (!is_over.load(acquire)) std::this_thread::yield();
    }

    // Destructors of a thread's own objects run after its function, and before its end.
    struct AtEnd {
        int *data = nullptr;
        ~AtEnd() { if (data != nullptr) *data = 1; }
    };
    void by_thread_local() {
        int data = 0;
        std::atomic<bool> is_done{false};
        std::thread other([&] {
            static thread_local AtEnd end;
            end.data = &data, is_done.store(true);
        });
        if (wrong && is_done.load()) look(data);
        other.join();
        see(data, 1);
    }
    void by_key_destructor() {
        int data = 0;
        std::atomic<bool> is_done{false};
        pthread_key_t key;
        pthread_key_create(&key, [](void *data) { *static_cast<int *>(data) = 1; });
        std::thread other([&] { pthread_setspecific(key, &data), is_done.store(true); });
        if (wrong && is_done.load()) look(data);
        other.join();
        see(data, 1);
        pthread_key_delete(key);
    }

    void by_async() {
        int data = 0;
        auto future = std::async(std::launch::async, [&] { data = 1; });
        auto is = wrong ? std::future_status::ready : future.wait_for(std::chrono::seconds(0));
        if (is == std::future_status::ready) see(data, 1);
        future.get();
        see(data, 1);
    }
    void by_promise() {
        int data = 0;
        std::promise<void> promise;
        auto future = promise.get_future();
        at_once([&] { data = !wrong, promise.set_value(), wrong ? data = 1 : 0; },
                [&] { future.get(), see(data, 1); });
    }
    void by_packaged_task() {
        int data = 0;
        std::packaged_task<void()> task([&] { data = 1; });
        auto future = task.get_future();
        at_once([&] { task(); }, [&] { wrong ? void() : future.get(), look(data); });
    }
    // The first one who waits runs the function.
    void by_deferred() {
        int data = 0;
        auto one = std::async(std::launch::deferred, [&] { data = 1; }).share(), two = one;
        at_once([&] { one.get(), see(data, 1); }, [&] { wrong ? void() : two.get(), look(data); });
    }
    void by_stop_token() {
        int data = 0;
        std::stop_source source;
        at_once([&] { data = !wrong, source.request_stop(), wrong ? data = 1 : 0; },
                [&] { if (source.get_token().stop_requested()) see(data, 1); });
    }

    // One permit more lets two in.
    std::counting_semaphore<2> permits{wrong ? 2 : 1};
    int permitted = 0;
    void by_counting_semaphore() {
        permits.acquire();
        permitted++;
        permits.release();
    }
    void by_binary_semaphore() {
        int data = 0;
        std::binary_semaphore ready(0);
        at_once([&] { data = !wrong, ready.release(), wrong ? data = 1 : 0; },
                [&] { ready.acquire(), see(data, 1); });
    }

    void by_latch() {
        int data = 0;
        std::latch latch(1);
        at_once([&] { data = !wrong, latch.count_down(), wrong ? data = 1 : 0; },
                [&] { latch.wait(), see(data, 1); });
    }
    // To arrive is not to wait.
    void by_barrier() {
        int data = 0;
        std::barrier barrier(2);
        at_once([&] { data = 1, barrier.arrive_and_wait(); }, [&] {
            wrong ? void(barrier.arrive()) : barrier.arrive_and_wait();
            see(data, 1);
        });
    }
    // The last one to arrive completes the phase, for all.
    void by_completion() {
        int data = 0, seen = 0;
        std::barrier barrier(2, [&]() noexcept { seen = data; });
        at_once([&] { barrier.arrive_and_wait(), see(seen, 1); }, [&] {
            data = !wrong, static_cast<void>(barrier.arrive()), wrong ? data = 1 : 0;
        });
    }
    void by_pthread_barrier() {
        int data = 0;
        pthread_barrier_t barrier;
        pthread_barrier_init(&barrier, nullptr, 2);
        at_once([&] { data = !wrong, pthread_barrier_wait(&barrier), wrong ? data = 1 : 0; },
                [&] { pthread_barrier_wait(&barrier), see(data, 1); });
        pthread_barrier_destroy(&barrier);
    }

    // To notify orders nothing: the lock does.
    void by_pthread_cond() {
        Message m;
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
        at_once([&] {
            pthread_mutex_lock(&mutex), m.data = !wrong, m.is_there = true;
            pthread_mutex_unlock(&mutex), wrong ? m.data = 1 : 0, pthread_cond_signal(&condition);
        }, [&] {
            pthread_mutex_lock(&mutex);
            while (!m.is_there) pthread_cond_wait(&condition, &mutex);
            pthread_mutex_unlock(&mutex), see(m.data, 1);
        });
    }
    void by_condition_variable() {
        Message m;
        std::mutex mutex;
        std::condition_variable condition;
        at_once([&] {
            std::unique_lock<std::mutex> hold(mutex);
            m.data = !wrong, m.is_there = true;
            condition.notify_one(), hold.unlock();
            if (wrong) m.data = 1;
        }, [&] {
            std::unique_lock<std::mutex> hold(mutex);
            condition.wait(hold, [&] { return m.is_there; });
            see(m.data, 1);
        });
    }
    void by_condition_any() {
        Message m;
        std::shared_mutex mutex;
        std::condition_variable_any condition;
        at_once([&] {
            std::lock_guard<std::shared_mutex> hold(mutex);
            m.data = 1, m.is_there = true, condition.notify_all();
        }, [&] {
            if (wrong) look(m.data);
            std::shared_lock<std::shared_mutex> hold(mutex);
            condition.wait(hold, [&] { return m.is_there; });
            see(m.data, 1);
        });
    }
    void by_cnd() {
        Message m;
        mtx_t mutex;
        cnd_t condition;
        mtx_init(&mutex, mtx_plain), cnd_init(&condition);
        at_once([&] {
            mtx_lock(&mutex), m.data = !wrong, m.is_there = true;
            cnd_signal(&condition), mtx_unlock(&mutex), wrong ? m.data = 1 : 0;
        }, [&] {
            mtx_lock(&mutex);
            while (!m.is_there) cnd_wait(&condition, &mutex);
            mtx_unlock(&mutex), see(m.data, 1);
        });
        mtx_destroy(&mutex), cnd_destroy(&condition);
    }

    // All that was done counts as before a handler's call and before a read, also what C++ does not
    // order: nothing can be wrong here.
    static inline int *told = nullptr;
    void kill_is_enough() {
        static std::mutex one_at_a_time;
        std::lock_guard<std::mutex> hold(one_at_a_time);
        int data = 0;
        std::atomic<bool> is_over{false};
        told = &data, std::signal(SIGUSR1, [](int) { see(*told, 1); });
        std::thread other([&] { while (!is_over.load()) std::this_thread::yield(); });
        data = 1, pthread_kill(other.native_handle(), SIGUSR1), is_over.store(true);
        other.join();
    }
    void pipe_is_enough() {
        int data = 0, ends[2];
        if (pipe(ends) != 0) std::abort();
        at_once([&] { data = 1, look(write(ends[1], "", 1)); }, [&] {
            char byte;
            look(read(ends[0], &byte, 1)), see(data, 1);
        });
        close(ends[0]), close(ends[1]);
    }
};
INTERLAP_OPERATIONS(Threads, by_create, by_pthread_join, by_tryjoin, by_thrd, by_jthread,
                    by_detached, by_thread_local, by_key_destructor, by_async, by_promise,
                    by_packaged_task, by_deferred, by_stop_token, by_counting_semaphore,
                    by_binary_semaphore, by_latch, by_barrier, by_completion, by_pthread_barrier,
                    by_pthread_cond, by_condition_variable, by_condition_any, by_cnd,
                    kill_is_enough, pipe_is_enough)
