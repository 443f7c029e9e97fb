// interlap: -std=c++20
// Pairs of methods around atomic accesses, as in pairs.cpp: with -DWRONG an order is weaker, or one
// of two accesses is plain. Most calls have threads and variables of their own.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <interlap_operations.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#ifdef WRONG
constexpr bool wrong = true;
#else
constexpr bool wrong = false;
#endif
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto seq_cst = std::memory_order_seq_cst;
constexpr auto weak_acquire = wrong ? relaxed : acquire;
constexpr auto weak_release = wrong ? relaxed : release;

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

// What is handed over, and what says that it is there.
struct Message {
    int data = 0;
    std::atomic<int> flag{0};
};

struct Atomics {
    void by_exchange() {
        Message m;
        at_once([&] { m.data = 1, m.flag.exchange(1, wrong ? acquire : release); },
                [&] { if (m.flag.exchange(2, acquire) == 1) see(m.data, 1); });
    }

    // A lock: who was served has let the next one in.
    std::atomic<int> next{0}, served{0};
    int with_ticket = 0;
    void by_ticket() {
        int own = next.fetch_add(1, relaxed);
        while (served.load(weak_acquire) != own) std::this_thread::yield();
        with_ticket++;
        served.store(own + 1, release);
    }

    // Each of the two orders of an exchange counts where it is the one.
    void by_success_order() {
        Message m;
        at_once([&] { m.data = 1, m.flag.store(1, release); }, [&] {
            int seen = 1;
            if (m.flag.compare_exchange_strong(seen, 2, weak_acquire, relaxed)) see(m.data, 1);
        });
    }
    void by_failure_order() {
        Message m;
        at_once([&] { m.data = 1, m.flag.store(1, release); }, [&] {
            int seen = 0;
            m.flag.compare_exchange_weak(seen, 2, std::memory_order_acq_rel, weak_acquire);
            if (seen == 1) see(m.data, 1);
        });
    }

    // What others add goes on with what was released; what they store does not.
    void by_release_sequence() {
        Message m;
        std::thread third([&] {
            if (!wrong) m.flag.fetch_add(1, relaxed);
            else if (m.flag.load(relaxed) == 1) m.flag.store(2, relaxed);
        });
        at_once([&] { m.data = 1, m.flag.store(1, release); },
                [&] { if (m.flag.load(acquire) == 2) see(m.data, 1); });
        third.join();
    }

    // Since C++20 a thread's own stores do not, either.
    void by_own_sequence() {
        Message m;
        at_once([&] {
            m.data = 1, m.flag.store(1, release);
            wrong ? m.flag.store(2, relaxed) : void(m.flag.exchange(2, relaxed));
        }, [&] { if (m.flag.load(acquire) == 2) see(m.data, 1); });
    }

    // A fence counts on its side of the access.
    void by_release_fence() {
        Message m;
        at_once([&] {
            m.data = 1;
            if (!wrong) std::atomic_thread_fence(release);
            m.flag.store(1, relaxed);
            if (wrong) std::atomic_thread_fence(release);
        }, [&] { if (m.flag.load(acquire) == 1) see(m.data, 1); });
    }
    void by_acquire_fence() {
        Message m;
        at_once([&] { m.data = 1, m.flag.store(1, release); }, [&] {
            if (wrong) std::atomic_thread_fence(acquire);
            if (m.flag.load(relaxed) != 1) return;
            if (!wrong) std::atomic_thread_fence(acquire);
            see(m.data, 1);
        });
    }

    // One for signal handlers orders nothing for threads.
    void by_seq_cst_fence() {
        Message m;
        auto fence = wrong ? std::atomic_signal_fence : std::atomic_thread_fence;
        at_once([&] { m.data = 1, fence(seq_cst), m.flag.store(1, relaxed); }, [&] {
            if (m.flag.load(relaxed) != 1) return;
            std::atomic_thread_fence(seq_cst);
            see(m.data, 1);
        });
    }
    void by_consume() {
        int data = 0;
        std::atomic<int *> pointer{nullptr};
        at_once([&] { data = 1, pointer.store(&data, release); }, [&] {
            int *seen = pointer.load(wrong ? relaxed : std::memory_order_consume);
            if (seen != nullptr) see(*seen, 1);
        });
    }

    // Only one of the two goes in at a time, as all of these accesses are in one order.
    std::atomic<bool> called[2]{}, inside[2]{};
    int of_insider = 0;
    void by_dekker(bool own) {
        if (called[own].exchange(true, acquire)) return;
        inside[own].store(true);
        if (!inside[!own].load(wrong ? relaxed : seq_cst)) of_insider++;
        inside[own].store(false);
        called[own].store(false, release);
    }

    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    int flagged = 0;
    void by_atomic_flag() {
        if (flag.test_and_set(acquire)) return;
        flagged++;
        flag.clear(weak_release);
    }
    void by_shared_ptr() {
        std::shared_ptr<int> holder = std::make_shared<int>(1);
        at_once([&] { std::atomic_store(&holder, std::make_shared<int>(1)); },
                [&] { wrong ? look(holder != nullptr) : see(*std::atomic_load(&holder), 1); });
    }
    void by_wide() {
        int data = 0;
        std::atomic<__int128> flag{0};
        at_once([&] { data = 1, flag.store(1, weak_release); },
                [&] { if (flag.load(acquire) == 1) see(data, 1); });
    }
    void by_atomic_ref() {
        int number = 0;
        at_once([&] { std::atomic_ref(number).fetch_add(1, relaxed); },
                [&] { look(wrong ? number : std::atomic_ref(number).load(relaxed)); });
    }
    void by_atomic_wait() {
        Message m;
        at_once([&] { m.data = 1, m.flag.store(1, release), m.flag.notify_one(); },
                [&] { m.flag.wait(0, weak_acquire), see(m.data, 1); });
    }
    void by_builtins() {
        int data = 0, flag = 0;
        at_once([&] { data = 1, __atomic_store_n(&flag, 1, __ATOMIC_RELEASE); }, [&] {
            if (__atomic_load_n(&flag, wrong ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE)) see(data, 1);
        });
    }

    int locked = 0, of_locker = 0;
    void by_sync_builtins() {
        if (__sync_lock_test_and_set(&locked, 1) != 0) return;
        if (!wrong) of_locker++;
        __sync_lock_release(&locked);
        if (wrong) of_locker++;
    }

    // The neighbours of an atomic byte are others.
    void by_bytes() {
        struct {
            std::atomic<char> flag{0};
            char data = 0, other = 0;
        } m;
        at_once([&] { m.data = 1, m.flag.store(1, weak_release), m.other = 1; },
                [&] { if (m.flag.load(acquire) == 1) see(m.data, 1); });
    }

    // Volatile accesses are not atomic, with fences either.
    void by_volatile() {
        int data = 0;
        std::conditional_t<wrong, volatile int, std::atomic<int>> flag{0};
        at_once([&] {
            data = 1;
            std::atomic_thread_fence(release);
            flag = 1;
        }, [&] {
            if (flag != 1) return;
            std::atomic_thread_fence(acquire);
            see(data, 1);
        });
    }

    // The last byte of a number, or the first one behind it.
    void by_sizes() {
        std::int64_t numbers[2] = {0, 0};
        at_once([&] { numbers[0] = -1; },
                [&] { look(reinterpret_cast<char *>(numbers)[wrong ? 7 : 8]); });
    }

    // Bit-fields next to each other are one location, and so are bits of a vector.
    struct Adjacent { int one : 4, two : 4; };
    struct Apart { int one : 4; int : 0; int two : 4; };
    void by_fields() {
        std::conditional_t<wrong, Adjacent, Apart> fields{};
        at_once([&] { fields.one = 1; }, [&] { fields.two = 1; });
    }
    void by_bits() {
        std::vector<std::conditional_t<wrong, bool, char>> bits(2);
        at_once([&] { bits[0] = true; }, [&] { bits[1] = true; });
    }

    // The last user sees what the others did.
    void by_counting() {
        int data = 1;
        std::atomic<int> users{2};
        auto leave = [&] {
            look(data);
            if (users.fetch_sub(1, release) != 1) return;
            if (!wrong) std::atomic_thread_fence(acquire);
            data = 0;
        };
        at_once(leave, leave);
    }

    // Who sees the pointer sees what was written before, and not what is written after.
    void by_early_pointer() {
        int data = 0;
        std::atomic<int *> pointer{nullptr};
        at_once([&] { data = !wrong, pointer.store(&data, release), wrong ? data = 1 : 0; },
                [&] { if (int *seen = pointer.load(acquire)) see(*seen, 1); });
    }

    // An atomic object is made by plain writes.
    void by_made_atomic() {
        std::optional<std::atomic<int>> made;
        std::atomic<std::atomic<int> *> pointer{nullptr};
        at_once([&] { made.emplace(1), pointer.store(&*made, weak_release); },
                [&] { if (std::atomic<int> *seen = pointer.load(acquire)) see(*seen, 1); });
    }

    // Reads that are thrown away where the count has changed must be atomic, too.
    void by_seqlock() {
        Message m;
        at_once([&] {
            m.flag.store(1, relaxed), std::atomic_thread_fence(release);
            wrong ? void(m.data = 1) : __atomic_store_n(&m.data, 1, __ATOMIC_RELAXED);
            m.flag.store(2, release);
        }, [&] {
            int before = m.flag.load(acquire);
            int seen = wrong ? m.data : __atomic_load_n(&m.data, __ATOMIC_RELAXED);
            std::atomic_thread_fence(acquire);
            if (before != 1 && m.flag.load(relaxed) == before) see(seen, before / 2);
        });
    }

    // All bytes that are copied count.
    void by_memcpy() {
        char shared[64] = {}, from[64] = {1}, to[64];
        Message m;
        at_once([&] { std::memcpy(shared, from, 64), m.flag.store(1, weak_release); }, [&] {
            if (m.flag.load(acquire) == 1) std::memmove(to, shared + 9, 50), look(to[0]);
        });
    }
    void by_memset() {
        char shared[64];
        at_once([&] { std::memset(shared, 1, wrong ? 33 : 32); },
                [&] { std::memset(shared + 32, 2, 32); });
    }
};
INTERLAP_OPERATIONS(Atomics, by_exchange, by_ticket, by_success_order, by_failure_order,
                    by_release_sequence, by_own_sequence, by_release_fence, by_acquire_fence,
                    by_seq_cst_fence, by_consume, by_dekker, by_atomic_flag, by_shared_ptr, by_wide,
                    by_atomic_ref, by_atomic_wait, by_builtins, by_sync_builtins, by_bytes,
                    by_volatile, by_sizes, by_fields, by_bits, by_counting, by_early_pointer,
                    by_made_atomic, by_seqlock, by_memcpy, by_memset)
