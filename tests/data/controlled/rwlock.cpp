// A set behind a pthread_rwlock: readers together, writers alone, both with timeouts at times.
// Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <cerrno>
#include <ctime>
#include <pthread.h>
#include <set>

struct Set {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    std::set<int64_t> keys;

    ~Set() { assert(pthread_rwlock_destroy(&lock) == 0); }

    static timespec soon() {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10'000;
        until.tv_sec += until.tv_nsec / 1'000'000'000;
        until.tv_nsec %= 1'000'000'000;
        return until;
    }
    bool insert(int64_t key) {
        timespec until = soon();
        if (pthread_rwlock_timedwrlock(&lock, &until) != 0) pthread_rwlock_wrlock(&lock);
        assert(pthread_rwlock_wrlock(&lock) == EDEADLK);
        assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
        bool inserted = keys.insert(key).second;
        pthread_rwlock_unlock(&lock);
        return inserted;
    }
    bool remove(int64_t key) {
        if (pthread_rwlock_trywrlock(&lock) != 0) pthread_rwlock_wrlock(&lock);
        bool removed = keys.erase(key) != 0;
        pthread_rwlock_unlock(&lock);
        return removed;
    }
    bool contains(int64_t key) {
        timespec until = soon();
        if (pthread_rwlock_timedrdlock(&lock, &until) != 0) pthread_rwlock_rdlock(&lock);
        assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
        // A second reader comes in, be it the same thread.
        assert(pthread_rwlock_tryrdlock(&lock) == 0);
        pthread_rwlock_unlock(&lock);
        bool found = keys.count(key) != 0;
        pthread_rwlock_unlock(&lock);
        return found;
    }
};
INTERLAP_TARGET(Set)
