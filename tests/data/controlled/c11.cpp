// A bounded queue of C11 threads: mtx, cnd, thrd, tss. Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <deque>
#include <threads.h>
#include <time.h>

struct Queue {
    static constexpr auto model = "fifo";
    static constexpr unsigned capacity = 3;
    mtx_t mutex;
    cnd_t changed;
    std::deque<int64_t> values;
    thrd_t helper;
    tss_t mark;

    Queue() {
        mtx_init(&mutex, mtx_timed);
        cnd_init(&changed);
        tss_create(&mark, nullptr);
        thrd_create(&helper, help, this);
    }
    ~Queue() {
        int result = 0;
        thrd_join(helper, &result);
        assert(result == -7);
        tss_delete(mark);
        cnd_destroy(&changed);
        mtx_destroy(&mutex);
    }
    static int help(void *pointer) {
        auto *queue = static_cast<Queue *>(pointer);
        tss_set(queue->mark, queue);
        thrd_yield();
        timespec nap{0, 3'000};
        thrd_sleep(&nap, nullptr);
        mtx_lock(&queue->mutex);
        cnd_broadcast(&queue->changed);
        mtx_unlock(&queue->mutex);
        if (tss_get(queue->mark) == queue) thrd_exit(-7);
        return 1;
    }
    template <class Ready> bool wait_for(Ready ready) {
        timespec until;
        timespec_get(&until, TIME_UTC);
        until.tv_nsec += 20'000;
        until.tv_sec += until.tv_nsec / 1'000'000'000;
        until.tv_nsec %= 1'000'000'000;
        while (!ready())
            if (cnd_timedwait(&changed, &mutex, &until) == thrd_timedout) return ready();
        return true;
    }
    bool enqueue(int64_t value) {
        mtx_lock(&mutex);
        bool free = wait_for([&] { return values.size() < capacity; });
        if (free) values.push_back(value);
        cnd_broadcast(&changed);
        mtx_unlock(&mutex);
        return free;
    }
    bool dequeue(int64_t &value) {
        mtx_lock(&mutex);
        bool any = wait_for([&] { return !values.empty(); });
        if (any) {
            value = values.front();
            values.pop_front();
        }
        cnd_broadcast(&changed);
        mtx_unlock(&mutex);
        return any;
    }
};
INTERLAP_TARGET(Queue)
