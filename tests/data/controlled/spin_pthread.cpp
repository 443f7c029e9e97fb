// A queue behind a pthread_spin_lock, made by pthread_once. Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <cerrno>
#include <deque>
#include <pthread.h>

static int made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct Queue {
    static constexpr auto model = "fifo";
    pthread_spinlock_t lock;
    std::deque<int64_t> values;

    Queue() { pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE); }
    ~Queue() { pthread_spin_destroy(&lock); }

    void acquire() {
        // Static data are as at first in each round.
        pthread_once(&once, [] { made++; });
        assert(made == 1);
        if (pthread_spin_trylock(&lock) != 0) pthread_spin_lock(&lock);
        assert(pthread_spin_trylock(&lock) == EBUSY);
    }
    bool enqueue(int64_t value) {
        acquire();
        values.push_back(value);
        pthread_spin_unlock(&lock);
        return true;
    }
    bool dequeue(int64_t &value) {
        acquire();
        bool found = !values.empty();
        if (found) {
            value = values.front();
            values.pop_front();
        }
        pthread_spin_unlock(&lock);
        return found;
    }
};
INTERLAP_TARGET(Queue)
