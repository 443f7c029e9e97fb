// A map behind mutexes of every kind, taken in turn: normal, error-checking, recursive, adaptive and
// robust ones, with and without a timeout. Controlled: clean.
#include <interlap.hpp>

#include <cassert>
#include <cerrno>
#include <ctime>
#include <map>
#include <pthread.h>

struct Map {
    static constexpr int kinds = 5;
    pthread_mutex_t mutexes[kinds];
    std::map<int64_t, int64_t> values;

    Map() {
        int types[kinds] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE,
                            PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_NORMAL};
        for (int i = 0; i < kinds; i++) {
            pthread_mutexattr_t attributes;
            pthread_mutexattr_init(&attributes);
            pthread_mutexattr_settype(&attributes, types[i]);
            if (i == 4) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
            pthread_mutex_init(&mutexes[i], &attributes);
            pthread_mutexattr_destroy(&attributes);
        }
    }
    ~Map() {
        for (auto &mutex : mutexes) assert(pthread_mutex_destroy(&mutex) == 0);
    }
    static timespec soon() {
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20'000;
        until.tv_sec += until.tv_nsec / 1'000'000'000;
        until.tv_nsec %= 1'000'000'000;
        return until;
    }
    void lock() {
        for (int i = 0; i < kinds; i++) {
            auto *mutex = &mutexes[i];
            timespec until = soon();
            // The first ones by trying, the next with a timeout that may pass.
            int answer = i < 2 ? pthread_mutex_trylock(mutex) : pthread_mutex_timedlock(mutex, &until);
            assert(answer == 0 || answer == (i < 2 ? EBUSY : ETIMEDOUT));
            if (answer != 0) assert(pthread_mutex_lock(mutex) == 0);
        }
        // What a second lock by the same thread does.
        assert(pthread_mutex_lock(&mutexes[1]) == EDEADLK);
        assert(pthread_mutex_trylock(&mutexes[0]) == EBUSY);
        assert(pthread_mutex_lock(&mutexes[2]) == 0 && pthread_mutex_unlock(&mutexes[2]) == 0);
    }
    void unlock() {
        for (auto &mutex : mutexes) assert(pthread_mutex_unlock(&mutex) == 0);
        // Others may hold it by now, but not this thread.
        assert(pthread_mutex_unlock(&mutexes[1]) == EPERM);
        assert(pthread_mutex_unlock(&mutexes[2]) == EPERM);
    }
    bool get(int64_t key, int64_t &value) {
        lock();
        auto found = values.find(key);
        bool any = found != values.end();
        if (any) value = found->second;
        unlock();
        return any;
    }
    void put(int64_t key, int64_t value) {
        lock();
        values[key] = value;
        unlock();
    }
    bool remove(int64_t key) {
        lock();
        bool removed = values.erase(key) != 0;
        unlock();
        return removed;
    }
};
INTERLAP_TARGET(Map)
