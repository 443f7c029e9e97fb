// A set whose helper threads leave their count to the destructor of a pthread key, which sets it
// anew once. Controlled: clean.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <mutex>
#include <pthread.h>
#include <set>

struct Set {
    struct Stock {
        Set *set;
        int left;
    };
    std::mutex mutex;
    std::set<int64_t> keys;
    std::atomic<int> destroyed{0};
    pthread_key_t key;

    Set() { pthread_key_create(&key, destroy); }
    ~Set() {
        assert(pthread_getspecific(key) == nullptr);
        pthread_key_delete(key);
    }
    static void destroy(void *pointer) {
        auto *stock = static_cast<Stock *>(pointer);
        stock->set->destroyed++;
        if (--stock->left != 0)
            pthread_setspecific(stock->set->key, stock);
        else
            delete stock;
    }
    static void *help(void *set) {
        auto *stock = new Stock{static_cast<Set *>(set), 2};
        pthread_setspecific(stock->set->key, stock);
        assert(pthread_getspecific(stock->set->key) == stock);
        return stock;
    }
    bool insert(int64_t value) {
        std::lock_guard lock(mutex);
        return keys.insert(value).second;
    }
    bool remove(int64_t value) {
        std::lock_guard lock(mutex);
        int before = destroyed;
        pthread_t helper;
        void *stock = nullptr;
        if (pthread_create(&helper, nullptr, help, this) == 0) {
            pthread_join(helper, &stock);
            assert(stock != nullptr && destroyed == before + 2);
        }
        return keys.erase(value) != 0;
    }
    bool contains(int64_t value) {
        std::lock_guard lock(mutex);
        return keys.count(value) != 0;
    }
};
INTERLAP_TARGET(Set)
