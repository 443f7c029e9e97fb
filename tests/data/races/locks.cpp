// Pairs of methods around locks of all kinds, as in pairs.cpp: with -DWRONG a little is missing.
#include <chrono>
#include <cstdlib>
#include <interlap_operations.hpp>
#include <list>
#include <map>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <string>
#include <threads.h>
#include <vector>

#ifdef WRONG
constexpr bool wrong = true;
#else
constexpr bool wrong = false;
#endif

// Reads that stay where they are. What a wrong half reads may be anything.
__attribute__((noipa)) static void look(long) {}
__attribute__((noipa)) static void see(long value, long expected) {
    if (!wrong && value != expected) std::abort();
}

// A time that is over: a lock is tried once.
constexpr timespec past{0, 0};
constexpr std::chrono::seconds at_once{0};

struct Locks {
    // The last access is after the end.
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int locked = 0;
    void by_pthread_mutex() {
        pthread_mutex_lock(&mutex);
        if (!wrong) locked++;
        pthread_mutex_unlock(&mutex);
        if (wrong) locked++;
    }

    // The last of two unlocks lets others in.
    pthread_mutex_t recursive;
    int twice = 0;
    void by_two_locks() {
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        pthread_mutex_unlock(&recursive);
        if (wrong) pthread_mutex_unlock(&recursive);
        twice++;
        if (!wrong) pthread_mutex_unlock(&recursive);
    }

    // A try that fails orders nothing.
    pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
    int after_trying = 0;
    void by_trylock() {
        bool has = pthread_mutex_trylock(&tried) == 0;
        if (has || wrong) after_trying++;
        if (has) pthread_mutex_unlock(&tried);
    }

    // Nor does a wait that ends too early.
    pthread_mutex_t timed = PTHREAD_MUTEX_INITIALIZER;
    int in_time = 0;
    void by_timedlock() {
        bool has = pthread_mutex_timedlock(&timed, &past) == 0;
        if (has || wrong) in_time++;
        if (has) pthread_mutex_unlock(&timed);
    }

    // Readers do not exclude each other.
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    int written = 0;
    void by_rwlock_of_writers() {
        wrong ? pthread_rwlock_rdlock(&rwlock) : pthread_rwlock_wrlock(&rwlock);
        written++;
        pthread_rwlock_unlock(&rwlock);
    }

    // Readers need it, too.
    pthread_rwlock_t read_lock = PTHREAD_RWLOCK_INITIALIZER;
    int read = 0;
    void by_rwlock_of_readers(bool writes) {
        if (wrong && !writes) return look(read);
        writes ? pthread_rwlock_wrlock(&read_lock) : pthread_rwlock_rdlock(&read_lock);
        writes ? void(read = 1) : look(read);
        pthread_rwlock_unlock(&read_lock);
    }

    pthread_rwlock_t tried_rwlock = PTHREAD_RWLOCK_INITIALIZER;
    int tried_writes = 0;
    void by_trywrlock() {
        bool has = pthread_rwlock_trywrlock(&tried_rwlock) == 0;
        if (has || wrong) tried_writes++;
        if (has) pthread_rwlock_unlock(&tried_rwlock);
    }

    pthread_rwlock_t timed_rwlock = PTHREAD_RWLOCK_INITIALIZER;
    int timed_reads = 0;
    void by_timedrdlock(bool writes) {
        if (writes) {
            if (pthread_rwlock_timedwrlock(&timed_rwlock, &past) != 0) return;
            timed_reads = 1;
        } else {
            bool has = pthread_rwlock_timedrdlock(&timed_rwlock, &past) == 0;
            if (has || wrong) look(timed_reads);
            if (!has) return;
        }
        pthread_rwlock_unlock(&timed_rwlock);
    }

    pthread_spinlock_t spin, tried_spin;
    int spun = 0, tried_spun = 0;
    void by_spinlock() {
        if (wrong) look(spun);
        pthread_spin_lock(&spin);
        spun++;
        pthread_spin_unlock(&spin);
    }
    void by_spin_trylock() {
        bool has = pthread_spin_trylock(&tried_spin) == 0;
        if (has || wrong) tried_spun++;
        if (has) pthread_spin_unlock(&tried_spin);
    }

    std::shared_timed_mutex shared_timed;
    int shared = 0;
    void by_shared_timed_mutex(bool writes) {
        if (writes) {
            std::unique_lock<std::shared_timed_mutex> hold(shared_timed, at_once);
            if (hold) shared = 1;
        } else {
            std::shared_lock<std::shared_timed_mutex> hold(shared_timed, at_once);
            if (!hold) return;
            if (wrong) hold.unlock();
            look(shared);
        }
    }

    std::recursive_timed_mutex nested;
    int deep = 0;
    void by_recursive_timed_mutex() {
        std::unique_lock<std::recursive_timed_mutex> outer(nested);
        {
            std::unique_lock<std::recursive_timed_mutex> inner(nested);
            if (wrong) outer.unlock();
        }
        deep++;
    }

    // All that use it must have one lock in common.
    std::mutex left, right;
    int both = 0;
    void by_scoped_lock(bool first) {
        if (wrong) {
            std::scoped_lock hold(first ? left : right);
            both++;
        } else {
            first ? std::lock(left, right) : std::lock(right, left);
            std::scoped_lock hold(std::adopt_lock, left, right);
            both++;
        }
    }

    std::mutex maybe;
    int owned = 0;
    void by_try_to_lock() {
        std::unique_lock<std::mutex> hold(maybe, std::try_to_lock);
        if (hold || wrong) owned++;
    }

    // A guard without a name is gone at once.
    std::mutex unnamed;
    int unguarded = 0;
    void by_named_guard() {
        std::unique_lock<std::mutex> hold(unnamed, std::defer_lock);
        wrong ? void(std::lock_guard<std::mutex>{unnamed}) : hold.lock();
        unguarded++;
    }

    // A lock of each object does not guard what all share.
    std::mutex one_of_many[2], of_all;
    int common = 0;
    void by_one_mutex(bool first) {
        std::lock_guard<std::mutex> hold(wrong ? one_of_many[first] : of_all);
        common++;
    }

    mtx_t plain_mtx, timed_mtx;
    int in_mtx = 0, in_timed_mtx = 0;
    void by_plain_mtx() {
        mtx_lock(&plain_mtx);
        if (!wrong) in_mtx++;
        mtx_unlock(&plain_mtx);
        if (wrong) in_mtx++;
    }
    void by_mtx_timedlock() {
        bool has = mtx_timedlock(&timed_mtx, &past) == thrd_success;
        if (has || wrong) in_timed_mtx++;
        if (has) mtx_unlock(&timed_mtx);
    }

    sem_t tried_semaphore;
    int waited = 0;
    void by_sem_trywait() {
        bool has = sem_trywait(&tried_semaphore) == 0;
        if (has || wrong) waited++;
        if (has) sem_post(&tried_semaphore);
    }

    // One permit more lets two in.
    sem_t permits;
    int permitted = 0;
    void by_permits() {
        sem_wait(&permits);
        permitted++;
        sem_post(&permits);
    }

    // Who comes too late must wait for the end of the call under way.
    pthread_once_t pthread_begun = PTHREAD_ONCE_INIT;
    static inline int made = 0;
    static void make() { made = 1; }
    void by_pthread_once() {
        if (wrong && made == 1) return;
        pthread_once(&pthread_begun, make);
        see(made, 1);
    }

    once_flag c11_begun = ONCE_FLAG_INIT;
    static inline int c11_made = 0;
    static void c11_make() { c11_made = 1; }
    void by_c11_once() {
        if (wrong) look(c11_made);
        call_once(&c11_begun, c11_make);
        see(c11_made, 1);
    }

    // A variable that is made late, by hand.
    int by_hand() {
        static int value;
        static bool is_made;
        static std::mutex making;
        std::unique_lock<std::mutex> hold(making, std::defer_lock);
        if (!wrong) hold.lock();
        if (!is_made) value = 2;
        is_made = true;
        return value;
    }

    // The size and the elements belong to what the lock guards.
    std::mutex of_containers;
    std::list<int> list;
    std::map<int, int> map;
    std::vector<int> vector;
    std::string string;
    void by_list(bool adds) {
        if (wrong && !adds) return look(list.size());
        std::lock_guard<std::mutex> hold(of_containers);
        adds ? list.push_back(1) : look(list.size());
    }
    void by_vector(bool adds) {
        if (wrong && !adds) return look(vector.size());
        std::lock_guard<std::mutex> hold(of_containers);
        adds ? vector.push_back(1) : look(vector.size());
    }
    void by_string(bool adds) {
        if (wrong && !adds) return look(string.size());
        std::lock_guard<std::mutex> hold(of_containers);
        adds ? string.push_back('a') : look(string.size());
    }
    void by_map(int key) {
        std::unique_lock<std::mutex> hold(of_containers);
        int &value = map[key & 1];
        if (wrong) hold.unlock();
        value++;
    }

    Locks() {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&recursive, &attributes);
        pthread_spin_init(&spin, 0);
        pthread_spin_init(&tried_spin, 0);
        mtx_init(&plain_mtx, mtx_plain);
        mtx_init(&timed_mtx, mtx_timed);
        sem_init(&tried_semaphore, 0, 1);
        sem_init(&permits, 0, wrong ? 2 : 1);
        made = c11_made = 0;
    }
};
INTERLAP_OPERATIONS(Locks, by_pthread_mutex, by_two_locks, by_trylock, by_timedlock,
                    by_rwlock_of_writers, by_rwlock_of_readers, by_trywrlock, by_timedrdlock,
                    by_spinlock, by_spin_trylock, by_shared_timed_mutex, by_recursive_timed_mutex,
                    by_scoped_lock, by_try_to_lock, by_named_guard, by_one_mutex, by_plain_mtx,
                    by_mtx_timedlock, by_sem_trywait, by_permits, by_pthread_once, by_c11_once,
                    by_hand, by_list, by_vector, by_string, by_map)
