// Pairs of methods: what orders their accesses is enough, or with -DWRONG a little less than that.
#include <atomic>
#include <interlap_operations.hpp>
#include <memory>
#include <mutex>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>

#ifdef WRONG
constexpr bool wrong = true;
#else
constexpr bool wrong = false;
#endif
constexpr auto acquire = wrong ? std::memory_order_relaxed : std::memory_order_acquire;
constexpr auto release = wrong ? std::memory_order_relaxed : std::memory_order_release;
constexpr auto relaxed = std::memory_order_relaxed;

struct Box {
    int value = 1;
};

struct Pairs {
    std::mutex mutex;
    int locked = 0;
    void by_mutex() {
        std::unique_lock<std::mutex> hold(mutex, std::defer_lock);
        if (!wrong) hold.lock();
        locked++;
    }

    // Readers do not exclude each other.
    std::shared_mutex shared;
    int written = 0;
    void by_shared_mutex() {
        if (wrong) {
            std::shared_lock<std::shared_mutex> hold(shared);
            written++;
        } else {
            std::unique_lock<std::shared_mutex> hold(shared);
            written++;
        }
    }
    int reads_shared() {
        std::shared_lock<std::shared_mutex> hold(shared);
        return written * 0;
    }

    std::atomic<bool> flag{false};
    int flagged = 0;
    void by_flag() {
        if (flag.exchange(true, acquire)) return;
        flagged++;
        flag.store(false, release);
    }

    std::atomic<bool> fenced{false};
    int guarded = 0;
    void by_fences() {
        if (fenced.exchange(true, relaxed)) return;
        if (!wrong) std::atomic_thread_fence(std::memory_order_acquire);
        guarded++;
        std::atomic_thread_fence(std::memory_order_release);
        fenced.store(false, relaxed);
    }

    // A failed exchange has an order of its own.
    std::atomic<int> stage{0};
    int staged = 0;
    void by_failed_exchange() {
        int seen = 0;
        if (stage.compare_exchange_strong(seen, 1, relaxed, relaxed)) {
            staged = 1;
            stage.store(2, std::memory_order_release);
        }
        seen = 0;
        stage.compare_exchange_strong(seen, 3, std::memory_order_acq_rel, acquire);
        if (seen == 2) staged + 0 == 1 ? void() : __builtin_abort();
    }

    std::once_flag once;
    bool is_made = false;
    int made = 0;
    void by_once() {
        if (!wrong) return std::call_once(once, [&] { made = 1; });
        if (!is_made) made = 1;
        is_made = true;
    }

    sem_t semaphore;
    int counted = 0;
    void by_semaphore() {
        if (!wrong) sem_wait(&semaphore);
        counted++;
        if (!wrong) sem_post(&semaphore);
    }

    std::atomic<Box *> published{nullptr};
    void by_publishing() {
        Box *box = published.load(acquire);
        if (box != nullptr) return void(box->value == 1 ? 0 : throw 1);
        box = new Box;
        Box *none = nullptr;
        if (!published.compare_exchange_strong(none, box, std::memory_order_release, relaxed))
            delete box;
    }

    // The last one frees it: what the others did to it must be before.
    struct Counted : Box {
        std::atomic<int> users{2};
    };
    std::atomic<Counted *> given{nullptr};
    void by_counting() {
        Counted *own = given.exchange(nullptr, std::memory_order_acq_rel);
        if (own == nullptr) {
            own = new Counted;
            Counted *none = nullptr;
            if (!given.compare_exchange_strong(none, own, std::memory_order_release, relaxed))
                return delete own;
        }
        use(own);
        if (own->users.fetch_sub(1, wrong ? relaxed : std::memory_order_acq_rel) == 1) delete own;
    }
    static void use(Counted *own) {
        if (own->value != 1) throw 1;
    }

    void by_joining() {
        int result = 0;
        std::thread other([&] { result = 1; });
        if (wrong) result + 0 == 2 ? throw 1 : 0;
        other.join();
        if (result != 1) throw 1;
    }

    // Volatile orders nothing.
    volatile int ready = 0;
    std::atomic<int> is_ready{0};
    int prepared = 0;
    void by_announcing(bool first) {
        if (first) {
            if (is_ready.exchange(1, relaxed) != 0) return;
            prepared = 1;
            wrong ? void(ready = 2) : is_ready.store(2, std::memory_order_release);
        } else if (wrong ? ready == 2 : is_ready.load(std::memory_order_acquire) == 2) {
            if (prepared != 1) throw 1;
        }
    }

    // The compiler's own code synchronises.
    int static_is_enough() {
        static Box box = made_late();
        return box.value;
    }
    static Box made_late() { return Box{2}; }

    std::shared_ptr<Box> holder = std::make_shared<Box>();
    void shared_pointer_is_enough() {
        std::shared_ptr<Box> own = holder;
        if (own->value != 1) throw 1;
    }

    Pairs() { sem_init(&semaphore, 0, 1); }
    ~Pairs() {
        delete published.load();
        delete given.load();
        sem_destroy(&semaphore);
    }
};
INTERLAP_OPERATIONS(Pairs, by_mutex, by_shared_mutex, reads_shared, by_flag, by_fences,
                    by_failed_exchange, by_once, by_semaphore, by_publishing, by_counting,
                    by_joining, by_announcing, static_is_enough, shared_pointer_is_enough)
