/*
 * interlap.hpp: turns a C++17 class into a target. See interlap.h for what a target is.
 *
 *     #include <interlap.hpp>
 *     #include <boost/lockfree/queue.hpp>
 *
 *     struct Queue {
 *         static constexpr auto library = "boost::lockfree::queue";
 *         static constexpr auto model = "fifo";
 *         boost::lockfree::queue<int64_t> queue{128};
 *         bool enqueue(int64_t value) { return queue.push(value); }
 *         bool dequeue(int64_t &value) { return queue.pop(value); }
 *     };
 *     INTERLAP_TARGET(Queue)
 *
 * The methods a class has decide which operations it offers:
 *
 *     queue     bool enqueue(int64_t value)                        false: full
 *               bool dequeue(int64_t &value)                       false: empty
 *               size_t enqueue_bulk(const int64_t *values, size_t n)   how many, or bool
 *               size_t dequeue_bulk(int64_t *values, size_t most)      how many, or bool: all, or
 *                                                                  none because fewer are inside
 *                       `n` and `most` may be 0: where the library forbids that, return at once
 *     stack     bool push(int64_t value)      bool pop(int64_t &value)
 *     deque     bool push(int64_t value)     bool take(int64_t &value)   bool steal(int64_t &value)
 *     queue, stack, deque and priority queue, too:
 *               size_t size()                           how many values are inside; the model says
 *               bool empty()                            what is promised of it (size=...)
 *     set       bool insert(int64_t key)     bool remove(int64_t key)    bool contains(int64_t key)
 *               or void insert, void remove
 *     range set a set that also has some of these; ranges include both ends:
 *               int64_t range_count(int64_t low, int64_t high)
 *               int64_t rank(int64_t key)                              how many are below
 *               int64_t size()
 *               bool select(int64_t n, int64_t &key)                   the key above n others
 *               size_t range_list(int64_t low, int64_t high, int64_t *keys, size_t most)
 *                                           the keys from the lowest up; how many: `most` suffices
 *     map       bool get(int64_t key, int64_t &value)
 *               bool put(int64_t key, int64_t value)               or void
 *               bool insert_if_absent(int64_t key, int64_t value)
 *               bool remove(int64_t key)                           or void
 *               bool compare_exchange(int64_t key, int64_t old, int64_t value)
 *     register  int64_t read()                void write(int64_t value)
 *               bool compare_exchange(int64_t old, int64_t value)
 *     priority  bool insert(int64_t value)   bool poll(int64_t &value)      the smallest first
 *     queue
 *     counter   void add(int64_t amount)     or int64_t: the value before
 *               int64_t read()
 *     log       bool append(int64_t value, int64_t &position)   false: nothing was appended
 *               bool read(int64_t position, int64_t &value)     false: nothing there yet
 *               int64_t check_tail()                            how many records there are
 *     kv        std::string get(const std::string &key)         empty where nothing was put
 *               void put(const std::string &key, const std::string &value)
 *               void append(const std::string &key, const std::string &value)
 *     store     void begin()               or int64_t: the read timestamp     (of transactions)
 *               bool read(int64_t key, int64_t &value)          false: absent
 *               bool write(int64_t key, int64_t value)          false: refused, an abort follows
 *               bool remove(int64_t key)                        likewise; status::empty: was absent
 *               bool commit()                                   false: rolled back
 *                                   or bool commit(int64_t &timestamp): the commit timestamp
 *               void abort()
 *               (each thread has a transaction of its own, which belongs into Local; one that is
 *               under way when Local is destroyed is to be aborted)
 *
 * A method that fills in a value may return a std::optional of it instead. enqueue_bulk may take a
 * std::vector; dequeue_bulk(most) and range_list(low, high) may return one. Integers may be
 * shorter; where one cannot hold its number, the run ends and says so. A method that returns bool
 * may return interlap::status instead, or void where that means that it is always done; a set's
 * insert and remove and a map's remove that are void make no claim of what they found. A status
 * says `unknown` (may have happened, may happen later, or never), `unsupported` (nothing was done,
 * draw another call) and, for those three, `done` (as void).
 *
 * A class that fits none of these lists its methods, of any types, and needs no model:
 *
 *     #include <interlap_operations.hpp>
 *     INTERLAP_OPERATIONS(Pool, acquire, release, peek)
 *
 * A method with such a name that cannot be called so is refused by the compiler, if the class has
 * others of its family, or none at all.
 *
 * Optional members of the class:
 *
 *     static constexpr auto model = "fifo";           default: by the methods: fifo, lifo, deque,
 *                                                     set, range-set, map, register,
 *                                                     priority-queue, counter, log, kv,
 *                                                     snapshot (of a store); with "set", methods
 *                                                     of a range set are not called
 *     static constexpr auto library = "...", version = "...";
 *     static constexpr bool one_producer = true;      thread 0 alone enqueues (pushes, appends)
 *     static constexpr bool one_consumer = true;      one thread dequeues: thread 1 if there is one
 *                                                     producer too, else thread 0
 *     static constexpr unsigned thread_max = 8;       most threads that may call at once
 *     static constexpr unsigned capacity = 1024;      how many values fit
 *     static constexpr unsigned block_size = 32;      bulk sizes around it are drawn more often
 *     explicit Queue(const interlap::config &)        instead of the default constructor
 *     struct Local { Local(Queue &, unsigned thread); ... };   made on each thread before its first
 *                                                     call, destroyed after its last; a method that
 *                                                     wants it takes a `Local &` first
 *
 * A method whose first part has no effect (taking a lock, retrying a transaction) may narrow the
 * timebox with interlap::box_open() and interlap::box_close(). A structure that cannot be made
 * calls interlap::fail(config, "why") in its constructor.
 */
#ifndef INTERLAP_HPP
#define INTERLAP_HPP

#if __cplusplus < 201703L
#error "interlap.hpp needs C++17: leave out an older -std="
#endif
#ifndef __cpp_exceptions
#error "interlap.hpp tells of exceptions that a structure throws: leave out -fno-exceptions"
#endif

#include "interlap_families.hpp"

#include <cxxabi.h>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>

/* interlap's, where it runs the target: the process ends for an exception of this type. */
extern "C" __attribute__((weak)) void il_exception_ends(const char *type, const char *what);
/* The state that a sequential class is in: values of this type. */
extern "C" __attribute__((weak)) void il_model_state(const char *type, const int64_t *words,
                                                     size_t count);
/* Which of so many ways a sequential class is to go. */
extern "C" __attribute__((weak)) uint32_t il_model_choose(uint32_t count);
/* Here calls of others may come before a sequential class goes on; if it waits, until some have. */
extern "C" __attribute__((weak)) void il_next_step(bool waits);

namespace interlap {
namespace detail {

template <class T> struct functions {
    using local = typename local_of<T>::type;
    static constexpr bool has_local = !std::is_same_v<local, no_local>;

    /* An exception that leaves the structure ends the process here, inside a handler, so that
       std::terminate knows it: see exception_ends. */
    template <class F> static auto guarded(F f) noexcept -> decltype(f()) {
        try {
            return f();
        } catch (...) {
            std::terminate();
        }
    }

    static void *create(const il_config *config) noexcept {
        return guarded([&]() -> void * {
            if constexpr (std::is_constructible_v<T, const il_config &>)
                return new T(*config);
            else
                return new T();
        });
    }
    static void destroy(void *structure) noexcept {
        guarded([&] { delete static_cast<T *>(structure); });
    }
    static void *enter(void *structure, uint32_t thread) noexcept {
        if constexpr (has_local)
            return guarded([&]() -> void * {
                return new local(*static_cast<T *>(structure), thread);
            });
        else
            return nullptr;
    }
    static void leave(void *, void *l) noexcept {
        if constexpr (has_local) guarded([&] { delete static_cast<local *>(l); });
    }
    template <class Offer> static void run(void *structure, void *l, il_call *call) {
        if constexpr (has_local) {
            Offer::run(call, *static_cast<T *>(structure), *static_cast<local *>(l));
        } else {
            no_local none;
            Offer::run(call, *static_cast<T *>(structure), none);
        }
    }
    static void call(void *structure, void *l, il_call *call) noexcept {
        is_under_way(call);
        guarded([&] { run<offer<T>>(structure, l, call); });
    }
};

/* Tells interlap of an exception for which the process ends, wherever it was to be caught: it
   leaves the structure, a noexcept function, or a thread. Then std::terminate goes on. */
inline std::terminate_handler terminate_before = nullptr;
__attribute__((no_sanitize("thread"))) inline void exception_ends() {
    const std::type_info *type = abi::__cxa_current_exception_type();
    if (type != nullptr && il_exception_ends != nullptr) {
        try {
            throw;
        } catch (const std::exception &thrown) {
            il_exception_ends(type->name(), thrown.what());
        } catch (const std::string &thrown) {
            il_exception_ends(type->name(), thrown.c_str());
        } catch (const char *thrown) {
            il_exception_ends(type->name(), thrown);
        } catch (...) {
            il_exception_ends(type->name(), "");
        }
    }
    terminate_before();
}
inline void watch_exceptions() {
    if (terminate_before == nullptr) terminate_before = std::set_terminate(exception_ends);
}

template <class T> const il_target *target() {
    check_methods<T>();
    watch_exceptions();
    static_assert(operations_of<T>::count() > 0,
                  "this class has none of the methods that interlap.hpp lists");
    static constexpr operations_of<T> operations;
    static constexpr unsigned spsc =
        one_producer_option<T>::value && one_consumer_option<T>::value ? 2 : 0;
    static constexpr il_target description = {
        IL_ABI_VERSION,
        sizeof(il_target),
        library_option<T>::value,
        version_option<T>::value,
        model_of<T>(),
        operations.list,
        operations_of<T>::count(),
        thread_max_option<T>::value ? thread_max_option<T>::value : spsc,
        capacity_option<T>::value,
        block_size_option<T>::value,
        0,
        functions<T>::create,
        functions<T>::destroy,
        functions<T>::enter,
        functions<T>::leave,
        functions<T>::call,
    };
    return &description;
}

} // namespace detail

/* Inside a method: what came before had no effect; the timebox opens now. */
inline void box_open() { il_box_open(detail::current_call); }
/* Inside a method: the operation has taken effect; the timebox closes now. */
inline void box_close() { il_box_close(detail::current_call); }
/* In a constructor: the structure cannot be made; ends the run with this message. */
[[noreturn]] inline void fail(const config &config, const std::string &why) {
    il_error(config.host, why.c_str());
    std::terminate();
}

} // namespace interlap

#define INTERLAP_TARGET(Class)                                                                     \
    extern "C" __attribute__((visibility("default"))) const il_target *interlap_target(void) {     \
        return interlap::detail::target<Class>();                                                  \
    }

/* Apart, because what it includes takes a compiler longer than all of the above. */
#define INTERLAP_OPERATIONS(...)                                                                   \
    static_assert(false, "INTERLAP_OPERATIONS needs #include <interlap_operations.hpp>");

#endif
