// Eight small structures of relaxed atomics, each with just the orders that it needs.
//
// interlap: -std=c++20
// A method makes one structure, uses it from two or three threads, and aborts if it is wrong. All
// data is atomic, so that nothing races.
// With -DWRONG, one order of each is weaker. None of these shows with sc, three with tso, all with
// c11. To see them: interlap fuzz relaxed_structures --cflag -DWRONG --findings 8
// Which orders are needed says: interlap orders relaxed_structures
//
// Guarantee: no assertion fails.
// Source: the papers that are named below.
#include <atomic>
#include <cstdlib>
#include <interlap_operations.hpp>
#include <thread>

#ifdef WRONG
constexpr bool wrong = true;
#else
constexpr bool wrong = false;
#endif
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto seq_cst = std::memory_order_seq_cst;
constexpr auto weak_acquire = wrong ? relaxed : acquire;
constexpr auto weak_release = wrong ? relaxed : release;
using Number = std::atomic<int>;

// A macro, so that it aborts in the method.
#define EXPECT(RIGHT)                                                                              \
    if (!(RIGHT)) std::abort()

static void fence_unless_wrong() {
    if (!wrong) std::atomic_thread_fence(seq_cst);
}
template <class... Threads> void at_once(Threads... all) {
    std::thread threads[] = {std::thread(all)...};
    for (auto &thread : threads) thread.join();
}

struct Structures {
    // Lamport's ring: a slot is written before the tail says so.
    void by_ring() {
        Number slots[2] = {}, tail{0}, head{0};
        at_once(
            [&] {
                for (int at = 0; at < 3; at++) {
                    if (at - head.load(acquire) == 2) return;
                    slots[at % 2].store(at + 1, relaxed);
                    tail.store(at + 1, weak_release);
                }
            },
            [&] {
                for (int at = 0; at < 3 && at != tail.load(acquire); at++) {
                    EXPECT(slots[at % 2].load(relaxed) == at + 1);
                    head.store(at + 1, release);
                }
            });
    }

    // A sequence lock (Boehm, MSPC 2012).
    void by_sequence_lock() {
        Number sequence{0}, one{0}, other{0};
        at_once(
            [&] {
                sequence.store(1, relaxed);
                if (!wrong) std::atomic_thread_fence(release);
                one.store(1, relaxed), other.store(1, relaxed);
                sequence.store(2, release);
            },
            [&] {
                int before = sequence.load(acquire);
                int first = one.load(relaxed), second = other.load(relaxed);
                if (!wrong) std::atomic_thread_fence(acquire);
                bool is_whole = before % 2 == 0 && sequence.load(relaxed) == before;
                EXPECT(!is_whole || first == second);
            });
    }

    // The owner and a thief of a work-stealing deque with one element (Chase, Lev, SPAA 2005; Le
    // and others, PPoPP 2013).
    void by_deque() {
        Number top{0}, bottom{1}, taken{0};
        at_once(
            [&] {
                bottom.store(0, relaxed);
                fence_unless_wrong();
                int t = top.load(relaxed);
                if (t < 0) return;
                if (t == 0 && top.compare_exchange_strong(t, 1, seq_cst, relaxed)) taken++;
                bottom.store(1, relaxed);
            },
            [&] {
                int t = top.load(acquire);
                std::atomic_thread_fence(seq_cst);
                if (t >= bottom.load(acquire)) return;
                if (top.compare_exchange_strong(t, t + 1, seq_cst, relaxed)) taken++;
            },
            [&] {
                // Two elements: the owner takes the second one without a compare-exchange.
                Number top{0}, bottom{2}, of_owner{0}, of_thief{0};
                at_once(
                    [&] {
                        bottom.store(1, relaxed);
                        fence_unless_wrong();
                        if (top.load(relaxed) < 1) of_owner.store(2, relaxed);
                    },
                    [&] {
                        for (int n = 0; n < 2; n++) {
                            int t = top.load(acquire);
                            std::atomic_thread_fence(seq_cst);
                            if (t >= bottom.load(acquire)) return;
                            if (top.compare_exchange_strong(t, t + 1, seq_cst, relaxed))
                                of_thief.store(t + 1, relaxed);
                        }
                    });
                EXPECT(of_owner + of_thief != 4);
            });
        EXPECT(taken <= 1);
    }

    // A hazard pointer: what is announced before it is looked at again is not freed (Michael 2004).
    void by_hazard_pointer() {
        Number node{1}, hazard{0}, is_freed{0};
        at_once(
            [&] {
                int mine = node.load(acquire);
                hazard.store(mine, release);
                fence_unless_wrong();
                if (mine != 0 && node.load(acquire) == mine) EXPECT(!is_freed.load(relaxed));
                hazard.store(0, release);
            },
            [&] {
                node.store(0, release);
                std::atomic_thread_fence(seq_cst);
                if (hazard.load(acquire) == 0) is_freed.store(1, relaxed);
            });
    }

    void by_spin_lock() {
        Number lock{0}, value{0};
        auto add = [&] {
            while (lock.exchange(1, acquire)) std::this_thread::yield();
            value.store(value.load(relaxed) + 1, relaxed);
            lock.store(0, weak_release);
        };
        at_once(add, add);
        EXPECT(value == 2);
    }

    // Who drops the last reference sees what the others did to the object.
    void by_reference_count() {
        Number count{2}, uses{0}, is_seen{1};
        auto drop = [&](int bit) {
            uses.fetch_or(bit, relaxed);
            if (count.fetch_sub(1, wrong ? relaxed : acq_rel) == 1)
                is_seen.store(uses.load(relaxed) == 3, relaxed);
        };
        at_once([&] { drop(1); }, [&] { drop(2); });
        EXPECT(is_seen);
    }

    // What is made once, and then looked at without a lock.
    void by_lazy_value() {
        Number value{0}, is_made{0};
        at_once(
            [&] {
                value.store(7, relaxed);
                is_made.store(1, release);
            },
            [&] {
                if (is_made.load(weak_acquire)) EXPECT(value.load(relaxed) == 7);
            });
    }

    // Each says that it comes, and enters if the other one does not.
    void by_two_flags() {
        Number wants[2] = {}, inside{0};
        auto enter = [&](int me) {
            wants[me].store(1, relaxed);
            fence_unless_wrong();
            if (wants[1 - me].load(acquire) == 0) {
                EXPECT(inside.fetch_add(1, relaxed) == 0);
                inside.fetch_sub(1, relaxed);
            }
            wants[me].store(0, release);
        };
        at_once([&] { enter(0); }, [&] { enter(1); });
    }
};
INTERLAP_OPERATIONS(Structures, by_ring, by_sequence_lock, by_deque, by_hazard_pointer,
                    by_spin_lock, by_reference_count, by_lazy_value, by_two_flags)
