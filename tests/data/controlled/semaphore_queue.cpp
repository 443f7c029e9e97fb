// A queue whose consumers wait for a semaphore, with a timeout. Controlled: clean.
//
// One that has passed the semaphore may be overtaken by one that came later, so "empty" means that
// no more values are there than others are about to take: only one that is alone is judged.
#include <interlap.hpp>

#include <cerrno>
#include <ctime>
#include <deque>
#include <mutex>
#include <semaphore.h>

struct Queue {
    static constexpr auto model = "fifo:empty=lone";
    std::mutex mutex;
    std::deque<int64_t> values;
    sem_t filled;

    Queue() { sem_init(&filled, 0, 0); }
    ~Queue() { sem_destroy(&filled); }

    bool enqueue(int64_t value) {
        std::lock_guard lock(mutex);
        values.push_back(value);
        sem_post(&filled);
        return true;
    }
    bool dequeue(int64_t &value) {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10'000;
        until.tv_sec += until.tv_nsec / 1'000'000'000;
        until.tv_nsec %= 1'000'000'000;
        while (sem_timedwait(&filled, &until) != 0)
            if (errno == ETIMEDOUT) return false;
        std::lock_guard lock(mutex);
        value = values.front();
        values.pop_front();
        return true;
    }
};
INTERLAP_TARGET(Queue)
