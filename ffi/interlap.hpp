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
 * A method that returns bool may return interlap::status instead, or void where that means that it
 * is always done; a set's insert and remove and a map's remove that are void make no claim of what
 * they found. A status says `unknown` (may have happened, may happen later, or never),
 * `unsupported` (nothing was done, draw another call) and, for those three, `done` (as void).
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

#include "interlap.h"

#include <cstddef>
#include <cstdint>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

/* interlap's, where it runs the target: the process ends for an exception of this type. */
extern "C" __attribute__((weak)) void il_exception_ends(const char *type, const char *what);
/* The state that a sequential class is in: values of this type. */
extern "C" __attribute__((weak)) void il_model_state(const char *type, const int64_t *words,
                                                     size_t count);

namespace interlap {

using config = il_config;

enum class status : uint32_t {
    ok = IL_OK,
    empty = IL_EMPTY,
    full = IL_FULL,
    failed = IL_FAILED,
    unknown = IL_UNKNOWN,
    unsupported = IL_UNSUPPORTED,
    done = IL_DONE,
};

namespace detail {

inline thread_local il_call *current_call = nullptr;
/* No step of the structure's, so without the engine's hooks. */
__attribute__((noinline, no_sanitize("thread"))) inline void is_under_way(il_call *call) {
    current_call = call;
}

struct no_local {};

template <class T, class = void> struct local_of { using type = no_local; };
template <class T> struct local_of<T, std::void_t<typename T::Local>> {
    using type = typename T::Local;
};

/* `name(t, local, args...)` calls t.name(local, args...) if there is such a method, else
   t.name(args...); `name::offered<T, Local, Args...>` says whether there is either. */
#define INTERLAP_METHOD(name)                                                                      \
    struct name##_method {                                                                         \
        template <class T, class... A>                                                             \
        static auto plain(T &t, A &&...a) -> decltype(t.name(std::forward<A>(a)...)) {             \
            return t.name(std::forward<A>(a)...);                                                  \
        }                                                                                          \
        template <class T, class... A>                                                             \
        using plain_of = decltype(plain(std::declval<T &>(), std::declval<A>()...));               \
        template <class T> using pointer_of = decltype(&T::name);                                  \
    };
INTERLAP_METHOD(enqueue)
INTERLAP_METHOD(dequeue)
INTERLAP_METHOD(enqueue_bulk)
INTERLAP_METHOD(dequeue_bulk)
INTERLAP_METHOD(push)
INTERLAP_METHOD(pop)
INTERLAP_METHOD(take)
INTERLAP_METHOD(steal)
INTERLAP_METHOD(insert)
INTERLAP_METHOD(poll)
INTERLAP_METHOD(remove)
INTERLAP_METHOD(contains)
INTERLAP_METHOD(get)
INTERLAP_METHOD(put)
INTERLAP_METHOD(insert_if_absent)
INTERLAP_METHOD(compare_exchange)
INTERLAP_METHOD(read)
INTERLAP_METHOD(write)
INTERLAP_METHOD(range_count)
INTERLAP_METHOD(rank)
INTERLAP_METHOD(size)
INTERLAP_METHOD(empty)
INTERLAP_METHOD(select)
INTERLAP_METHOD(range_list)
INTERLAP_METHOD(add)
INTERLAP_METHOD(append)
INTERLAP_METHOD(check_tail)
INTERLAP_METHOD(begin)
INTERLAP_METHOD(commit)
INTERLAP_METHOD(abort)
#undef INTERLAP_METHOD

template <class Void, class M, class T, class... A> struct has_method : std::false_type {};
template <class M, class T, class... A>
struct has_method<std::void_t<typename M::template plain_of<T, A...>>, M, T, A...>
    : std::true_type {};
template <class M, class T, class... A>
constexpr bool has = has_method<void, M, T, A...>::value ||
                     has_method<void, M, T, typename local_of<T>::type &, A...>::value;

/* Whether the class has one method of this name, whatever its parameters. */
template <class Void, class M, class T> struct has_name : std::false_type {};
template <class M, class T>
struct has_name<std::void_t<typename M::template pointer_of<T>>, M, T> {
    using pointer = typename M::template pointer_of<T>;
    static constexpr bool value = std::is_member_function_pointer_v<pointer> ||
                                  std::is_function_v<std::remove_pointer_t<pointer>>;
};

template <class M, class T, class L, class... A> decltype(auto) invoke(T &t, L &local, A &&...a) {
    if constexpr (has_method<void, M, T, L &, A...>::value)
        return M::plain(t, local, std::forward<A>(a)...);
    else
        return M::plain(t, std::forward<A>(a)...);
}

/* Runs a method and turns what it returns into a status: void is ok, false is `no`. */
template <class M, class T, class L, class... A>
status answer(status no, T &t, L &local, A &&...a) {
    using R = decltype(invoke<M>(t, local, std::forward<A>(a)...));
    if constexpr (std::is_void_v<R>) {
        invoke<M>(t, local, std::forward<A>(a)...);
        return status::ok;
    } else if constexpr (std::is_same_v<R, status>) {
        return invoke<M>(t, local, std::forward<A>(a)...);
    } else {
        static_assert(std::is_same_v<R, bool>, "a target's method returns bool, void or "
                                               "interlap::status");
        return invoke<M>(t, local, std::forward<A>(a)...) ? status::ok : no;
    }
}

/* Optional static members: the class's own, else a default. */
#define INTERLAP_OPTION(type, name, fallback)                                                      \
    template <class T, class = void> struct name##_option {                                        \
        static constexpr type value = fallback;                                                    \
    };                                                                                             \
    template <class T> struct name##_option<T, std::void_t<decltype(T::name)>> {                   \
        static constexpr type value = T::name;                                                     \
    };
INTERLAP_OPTION(const char *, library, "")
INTERLAP_OPTION(const char *, version, "")
INTERLAP_OPTION(const char *, model, nullptr)
INTERLAP_OPTION(bool, one_producer, false)
INTERLAP_OPTION(bool, one_consumer, false)
INTERLAP_OPTION(unsigned, thread_max, 0)
INTERLAP_OPTION(unsigned, capacity, 0)
INTERLAP_OPTION(unsigned, block_size, 0)
#undef INTERLAP_OPTION

constexpr bool same_text(const char *a, const char *b) {
    while (*a != 0 && *a == *b) a++, b++;
    return *a == *b;
}

/* A string is put together from texts of numbers, each with an end of its own, so that what it was
   put together from can be read off it. */
inline std::string text_of_number(int64_t number) { return std::to_string(number) + ";"; }
inline std::string text_of_key(int64_t key) { return "key" + std::to_string(key); }

/* What stands for a rest that is no text of a number: a value that is never drawn. */
constexpr int64_t not_a_number = -1;

/* The numbers of a string; false if there is no room for them. */
inline bool numbers_of_text(const std::string &text, int64_t *numbers, size_t room, size_t &count) {
    count = 0;
    for (size_t at = 0; at < text.size(); count++) {
        if (count == room) return false;
        size_t end = at;
        uint64_t number = 0;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9' && end - at < 19)
            number = number * 10 + static_cast<uint64_t>(text[end++] - '0');
        bool whole = end > at && end < text.size() && text[end] == ';';
        numbers[count] = whole ? static_cast<int64_t>(number) : not_a_number;
        at = whole ? end + 1 : text.size();
    }
    return true;
}

/* The operations a class offers, and how each is done. */
template <class T> struct offer {
    using local = typename local_of<T>::type;
    using in = int64_t;
    using out = int64_t &;

    static constexpr bool is_deque = has<take_method, T, out> || has<steal_method, T, out>;
    static constexpr bool is_map = has<get_method, T, in, out>;
    static constexpr bool is_priority = has<poll_method, T, out>;
    static constexpr bool is_set =
        !is_map && !is_priority && (has<contains_method, T, in> || has<insert_method, T, in>);
    static constexpr bool is_stack = has<pop_method, T, out>;
    static constexpr bool is_counter = has<add_method, T, in>;
    static constexpr bool is_log = has<append_method, T, in, out>;
    using text = const std::string &;
    static constexpr bool is_kv =
        !is_map && has<get_method, T, text> && has<put_method, T, text, text>;
    static constexpr bool stamps_commits = has<commit_method, T, out>;
    static constexpr bool is_store =
        has<begin_method, T> && (stamps_commits || has<commit_method, T>);
    static constexpr bool is_register =
        !is_counter && !is_log && !is_store && has<read_method, T>;

    /* Whether keys are counted, too: of a class that calls itself a mere set they are not, so that
       it may have a size() of its own that promises nothing. */
    static constexpr bool counts_keys =
        is_set && (model_option<T>::value == nullptr || !same_text(model_option<T>::value, "set"));
    static constexpr bool lists_keys =
        counts_keys && has<range_list_method, T, in, in, int64_t *, size_t>;
    static constexpr bool is_range_set =
        lists_keys || (counts_keys && (has<range_count_method, T, in, in> ||
                                       has<rank_method, T, in> || has<size_method, T> ||
                                       has<select_method, T, in, out>));

    static constexpr bool is_queue =
        has<enqueue_method, T, in> || has<dequeue_method, T, out> ||
        has<enqueue_bulk_method, T, const int64_t *, size_t> ||
        has<dequeue_bulk_method, T, int64_t *, size_t>;

    static constexpr bool offers(uint32_t op) {
        switch (op) {
        case IL_QUEUE_SIZE: return is_queue && has<size_method, T>;
        case IL_QUEUE_EMPTY: return is_queue && has<empty_method, T>;
        case IL_STACK_SIZE: return is_stack && has<size_method, T>;
        case IL_STACK_EMPTY: return is_stack && has<empty_method, T>;
        case IL_DEQUE_SIZE: return is_deque && has<size_method, T>;
        case IL_DEQUE_EMPTY: return is_deque && has<empty_method, T>;
        case IL_PRIORITY_SIZE: return is_priority && has<size_method, T>;
        case IL_PRIORITY_EMPTY: return is_priority && has<empty_method, T>;
        case IL_ENQUEUE: return has<enqueue_method, T, in>;
        case IL_DEQUEUE: return has<dequeue_method, T, out>;
        case IL_ENQUEUE_BULK: return has<enqueue_bulk_method, T, const int64_t *, size_t>;
        case IL_DEQUEUE_BULK: return has<dequeue_bulk_method, T, int64_t *, size_t>;
        case IL_PUSH: return is_stack && has<push_method, T, in>;
        case IL_POP: return is_stack;
        case IL_DEQUE_PUSH: return is_deque && has<push_method, T, in>;
        case IL_DEQUE_TAKE: return has<take_method, T, out>;
        case IL_DEQUE_STEAL: return has<steal_method, T, out>;
        case IL_SET_INSERT: return is_set && has<insert_method, T, in>;
        case IL_SET_REMOVE: return is_set && has<remove_method, T, in>;
        case IL_SET_CONTAINS: return has<contains_method, T, in>;
        case IL_MAP_GET: return is_map;
        case IL_MAP_PUT: return is_map && has<put_method, T, in, in>;
        case IL_MAP_INSERT_IF_ABSENT: return is_map && has<insert_if_absent_method, T, in, in>;
        case IL_MAP_REMOVE: return is_map && has<remove_method, T, in>;
        case IL_MAP_COMPARE_EXCHANGE: return is_map && has<compare_exchange_method, T, in, in, in>;
        case IL_REGISTER_READ: return is_register;
        case IL_REGISTER_WRITE: return is_register && has<write_method, T, in>;
        case IL_REGISTER_COMPARE_EXCHANGE:
            return is_register && has<compare_exchange_method, T, in, in>;
        case IL_PRIORITY_INSERT: return is_priority && has<insert_method, T, in>;
        case IL_PRIORITY_POLL: return is_priority;
        case IL_SET_RANGE_COUNT: return counts_keys && has<range_count_method, T, in, in>;
        case IL_SET_RANK: return counts_keys && has<rank_method, T, in>;
        case IL_SET_SIZE: return counts_keys && has<size_method, T>;
        case IL_SET_SELECT: return counts_keys && has<select_method, T, in, out>;
        case IL_SET_RANGE_LIST: return lists_keys;
        case IL_COUNTER_ADD: return is_counter;
        case IL_COUNTER_READ: return is_counter && has<read_method, T>;
        case IL_LOG_APPEND: return is_log;
        case IL_LOG_READ: return is_log && has<read_method, T, in, out>;
        case IL_LOG_CHECK_TAIL: return is_log && has<check_tail_method, T>;
        case IL_KV_GET:
        case IL_KV_PUT: return is_kv;
        case IL_KV_APPEND: return is_kv && has<append_method, T, text, text>;
        case IL_STORE_BEGIN:
        case IL_STORE_COMMIT: return is_store;
        case IL_STORE_READ: return is_store && has<read_method, T, in, out>;
        case IL_STORE_WRITE: return is_store && has<write_method, T, in, in>;
        case IL_STORE_REMOVE: return is_store && has<remove_method, T, in>;
        case IL_STORE_ABORT: return is_store && has<abort_method, T>;
        default: return false;
        }
    }

    /* A call that hands out one value: ok with it, or `no` without. */
    template <class M, class... A>
    static void one_value(il_call *c, status no, T &t, local &l, A... a) {
        int64_t value = 0;
        status s = answer<M>(no, t, l, a..., value);
        c->status = static_cast<uint32_t>(s);
        if (s == status::ok) {
            c->results[0] = value;
            c->result_count = 1;
        }
    }

    template <class M, class... A>
    static void plain(il_call *c, status no, T &t, local &l, A... a) {
        c->status = static_cast<uint32_t>(answer<M>(no, t, l, a...));
    }

    /* A call that leaves a key in or out, and may say whether it was so before. */
    template <class M, class... A> static void leaves_key(il_call *c, T &t, local &l, A... a) {
        plain<M>(c, status::failed, t, l, a...);
        if constexpr (std::is_void_v<decltype(invoke<M>(t, l, a...))>) c->status = IL_DONE;
    }

    /* A call of which the answer is checked: true, or false. */
    template <class M, class... A> static void yes_or_no(il_call *c, T &t, local &l, A... a) {
        static_assert(!std::is_void_v<decltype(invoke<M>(t, l, a...))>,
                      "this method must say whether it changed or found something (bool, or "
                      "interlap::status): nothing else is checked of it");
        plain<M>(c, status::failed, t, l, a...);
    }

    /* A call that always hands out one number. */
    template <class M, class... A> static void number(il_call *c, T &t, local &l, A... a) {
        using R = decltype(invoke<M>(t, l, a...));
        static_assert(std::is_integral_v<R> && !std::is_same_v<R, bool>,
                      "a target's method that reads a number returns it: int64_t or size_t");
        c->results[0] = static_cast<int64_t>(invoke<M>(t, l, a...));
        c->result_count = 1;
    }

    static void counter_add(il_call *c, T &t, local &l) {
        using M = add_method;
        using R = decltype(invoke<M>(t, l, c->args[0]));
        if constexpr (std::is_same_v<R, bool> || std::is_same_v<R, status> || std::is_void_v<R>)
            plain<M>(c, status::failed, t, l, c->args[0]);
        else
            number<M>(c, t, l, c->args[0]);
    }

    /* Strings are made before the timebox opens and taken apart after it has closed. */
    static void kv_get(il_call *c, T &t, local &l) {
        const std::string key = text_of_key(c->args[0]);
        il_box_open(c);
        const std::string found = invoke<get_method>(t, l, key);
        if (c->end == 0) il_box_close(c);
        size_t pieces = 0;
        if (!numbers_of_text(found, c->results, c->result_room, pieces)) {
            c->status = IL_UNKNOWN; /* no room: then the answer makes no claim */
            return;
        }
        c->result_count = static_cast<uint32_t>(pieces);
    }

    template <class M> static void kv_change(il_call *c, T &t, local &l) {
        const std::string key = text_of_key(c->args[0]);
        std::string value;
        for (uint32_t at = 1; at < c->arg_count; at++) value += text_of_number(c->args[at]);
        il_box_open(c);
        status s =
            answer<M>(status::failed, t, l, static_cast<text>(key), static_cast<text>(value));
        if (c->end == 0) il_box_close(c);
        c->status = static_cast<uint32_t>(s);
    }

    static void store_begin(il_call *c, T &t, local &l) {
        if constexpr (std::is_void_v<decltype(invoke<begin_method>(t, l))>)
            invoke<begin_method>(t, l);
        else
            number<begin_method>(c, t, l);
    }

    static void store_commit(il_call *c, T &t, local &l) {
        if constexpr (stamps_commits)
            one_value<commit_method>(c, status::failed, t, l);
        else
            plain<commit_method>(c, status::failed, t, l);
    }

    static void range_list(il_call *c, T &t, local &l) {
        size_t most = c->result_room;
        size_t listed =
            invoke<range_list_method>(t, l, c->args[0], c->args[1], c->results, most);
        c->result_count = static_cast<uint32_t>(listed);
    }

    static void enqueue_bulk(il_call *c, T &t, local &l) {
        using M = enqueue_bulk_method;
        size_t wanted = c->arg_count;
        using R = decltype(invoke<M>(t, l, c->args, wanted));
        if constexpr (std::is_same_v<R, bool> || std::is_same_v<R, status> || std::is_void_v<R>) {
            plain<M>(c, status::full, t, l, c->args, wanted);
        } else {
            size_t done = invoke<M>(t, l, c->args, wanted);
            c->results[0] = static_cast<int64_t>(done);
            c->result_count = 1;
        }
    }

    static void dequeue_bulk(il_call *c, T &t, local &l) {
        using M = dequeue_bulk_method;
        size_t most = static_cast<size_t>(c->args[0]);
        if constexpr (std::is_same_v<decltype(invoke<M>(t, l, c->results, most)), bool>) {
            bool all = invoke<M>(t, l, c->results, most);
            c->result_count = all ? static_cast<uint32_t>(most) : 0;
            c->status = all ? IL_OK : most <= 1 ? IL_EMPTY : IL_FAILED;
        } else {
            size_t done = invoke<M>(t, l, c->results, most);
            c->result_count = static_cast<uint32_t>(done);
            c->status = done == 0 ? IL_EMPTY : IL_OK;
        }
    }

    static void run(il_call *c, T &t, local &l) {
        const int64_t *a = c->args;
        /* Each branch is compiled only if the class has the method. */
#define INTERLAP_CASE(OP, ...)                                                                     \
    case OP:                                                                                       \
        if constexpr (offers(OP)) {                                                                \
            __VA_ARGS__;                                                                           \
            return;                                                                                \
        }                                                                                          \
        break;
        switch (c->op) {
            INTERLAP_CASE(IL_ENQUEUE, plain<enqueue_method>(c, status::full, t, l, a[0]))
            INTERLAP_CASE(IL_DEQUEUE, one_value<dequeue_method>(c, status::empty, t, l))
            INTERLAP_CASE(IL_ENQUEUE_BULK, enqueue_bulk(c, t, l))
            INTERLAP_CASE(IL_DEQUEUE_BULK, dequeue_bulk(c, t, l))
            INTERLAP_CASE(IL_QUEUE_SIZE, number<size_method>(c, t, l))
            INTERLAP_CASE(IL_QUEUE_EMPTY, yes_or_no<empty_method>(c, t, l))
            INTERLAP_CASE(IL_STACK_SIZE, number<size_method>(c, t, l))
            INTERLAP_CASE(IL_STACK_EMPTY, yes_or_no<empty_method>(c, t, l))
            INTERLAP_CASE(IL_DEQUE_SIZE, number<size_method>(c, t, l))
            INTERLAP_CASE(IL_DEQUE_EMPTY, yes_or_no<empty_method>(c, t, l))
            INTERLAP_CASE(IL_PRIORITY_SIZE, number<size_method>(c, t, l))
            INTERLAP_CASE(IL_PRIORITY_EMPTY, yes_or_no<empty_method>(c, t, l))
            INTERLAP_CASE(IL_PUSH, plain<push_method>(c, status::full, t, l, a[0]))
            INTERLAP_CASE(IL_POP, one_value<pop_method>(c, status::empty, t, l))
            INTERLAP_CASE(IL_DEQUE_PUSH, plain<push_method>(c, status::full, t, l, a[0]))
            INTERLAP_CASE(IL_DEQUE_TAKE, one_value<take_method>(c, status::empty, t, l))
            INTERLAP_CASE(IL_DEQUE_STEAL, one_value<steal_method>(c, status::empty, t, l))
            INTERLAP_CASE(IL_SET_INSERT, leaves_key<insert_method>(c, t, l, a[0]))
            INTERLAP_CASE(IL_SET_REMOVE, leaves_key<remove_method>(c, t, l, a[0]))
            INTERLAP_CASE(IL_SET_CONTAINS, yes_or_no<contains_method>(c, t, l, a[0]))
            INTERLAP_CASE(IL_MAP_GET, one_value<get_method>(c, status::failed, t, l, a[0]))
            INTERLAP_CASE(IL_MAP_PUT, plain<put_method>(c, status::failed, t, l, a[0], a[1]))
            INTERLAP_CASE(IL_MAP_INSERT_IF_ABSENT,
                          yes_or_no<insert_if_absent_method>(c, t, l, a[0], a[1]))
            INTERLAP_CASE(IL_MAP_REMOVE, leaves_key<remove_method>(c, t, l, a[0]))
            INTERLAP_CASE(IL_MAP_COMPARE_EXCHANGE,
                          yes_or_no<compare_exchange_method>(c, t, l, a[0], a[1], a[2]))
            INTERLAP_CASE(IL_REGISTER_READ, c->results[0] = invoke<read_method>(t, l),
                          c->result_count = 1)
            INTERLAP_CASE(IL_REGISTER_WRITE, plain<write_method>(c, status::failed, t, l, a[0]))
            INTERLAP_CASE(IL_REGISTER_COMPARE_EXCHANGE,
                          yes_or_no<compare_exchange_method>(c, t, l, a[0], a[1]))
            INTERLAP_CASE(IL_PRIORITY_INSERT, plain<insert_method>(c, status::full, t, l, a[0]))
            INTERLAP_CASE(IL_PRIORITY_POLL, one_value<poll_method>(c, status::empty, t, l))
            INTERLAP_CASE(IL_SET_RANGE_COUNT, number<range_count_method>(c, t, l, a[0], a[1]))
            INTERLAP_CASE(IL_SET_RANK, number<rank_method>(c, t, l, a[0]))
            INTERLAP_CASE(IL_SET_SIZE, number<size_method>(c, t, l))
            INTERLAP_CASE(IL_SET_SELECT, one_value<select_method>(c, status::failed, t, l, a[0]))
            INTERLAP_CASE(IL_SET_RANGE_LIST, range_list(c, t, l))
            INTERLAP_CASE(IL_COUNTER_ADD, counter_add(c, t, l))
            INTERLAP_CASE(IL_COUNTER_READ, number<read_method>(c, t, l))
            INTERLAP_CASE(IL_LOG_APPEND, one_value<append_method>(c, status::failed, t, l, a[0]))
            INTERLAP_CASE(IL_LOG_READ, one_value<read_method>(c, status::empty, t, l, a[0]))
            INTERLAP_CASE(IL_LOG_CHECK_TAIL, number<check_tail_method>(c, t, l))
            INTERLAP_CASE(IL_KV_GET, kv_get(c, t, l))
            INTERLAP_CASE(IL_KV_PUT, kv_change<put_method>(c, t, l))
            INTERLAP_CASE(IL_KV_APPEND, kv_change<append_method>(c, t, l))
            INTERLAP_CASE(IL_STORE_BEGIN, store_begin(c, t, l))
            INTERLAP_CASE(IL_STORE_READ, one_value<read_method>(c, status::failed, t, l, a[0]))
            INTERLAP_CASE(IL_STORE_WRITE, plain<write_method>(c, status::failed, t, l, a[0], a[1]))
            INTERLAP_CASE(IL_STORE_REMOVE, plain<remove_method>(c, status::failed, t, l, a[0]))
            INTERLAP_CASE(IL_STORE_COMMIT, store_commit(c, t, l))
            INTERLAP_CASE(IL_STORE_ABORT, plain<abort_method>(c, status::failed, t, l))
        }
#undef INTERLAP_CASE
        c->status = IL_UNSUPPORTED;
    }
};

template <class T> constexpr const char *model_of() {
    using o = offer<T>;
    if (model_option<T>::value != nullptr) return model_option<T>::value;
    return o::is_store    ? "snapshot"
           : o::is_kv     ? "kv"
           : o::is_deque  ? "deque"
           : o::is_stack  ? "lifo"
           : o::is_map    ? "map"
           : o::is_range_set ? "range-set"
           : o::is_set    ? "set"
           : o::is_register ? "register"
           : o::is_priority ? "priority-queue"
           : o::is_counter ? "counter"
           : o::is_log    ? "log"
                            : "fifo";
}

template <class T> constexpr uint32_t role_of(uint32_t op) {
    constexpr bool producer = one_producer_option<T>::value;
    constexpr bool consumer = one_consumer_option<T>::value;
    switch (op) {
    case IL_DEQUE_PUSH:
    case IL_DEQUE_TAKE: return IL_FIRST_THREAD;
    case IL_DEQUE_STEAL: return IL_OTHER_THREADS;
    case IL_ENQUEUE:
    case IL_ENQUEUE_BULK:
    case IL_PRIORITY_INSERT:
    case IL_PUSH: return producer ? IL_FIRST_THREAD : consumer ? IL_OTHER_THREADS : IL_ANY_THREAD;
    case IL_DEQUEUE:
    case IL_DEQUEUE_BULK:
    case IL_PRIORITY_POLL:
    case IL_POP: return producer ? IL_OTHER_THREADS : consumer ? IL_FIRST_THREAD : IL_ANY_THREAD;
    case IL_LOG_APPEND: return producer ? IL_FIRST_THREAD : IL_ANY_THREAD;
    default: return IL_ANY_THREAD;
    }
}

template <class T> struct operations_of {
    static constexpr uint32_t op_end = IL_STORE_ABORT + 1; /* past the last il_op */
    static constexpr uint32_t count() {
        uint32_t n = 0;
        for (uint32_t op = 0; op < op_end; op++) n += offer<T>::offers(op);
        return n;
    }
    il_operation list[count() > 0 ? count() : 1] = {};
    constexpr operations_of() {
        uint32_t n = 0;
        for (uint32_t op = 0; op < op_end; op++)
            if (offer<T>::offers(op)) list[n++] = il_operation{op, role_of<T>(op), nullptr};
    }
};

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
    static void call(void *structure, void *l, il_call *call) noexcept {
        is_under_way(call);
        guarded([&] {
            if constexpr (has_local) {
                offer<T>::run(call, *static_cast<T *>(structure), *static_cast<local *>(l));
            } else {
                no_local none;
                offer<T>::run(call, *static_cast<T *>(structure), none);
            }
        });
    }
};

template <class T, class... O> constexpr bool offers_any(O... ops) {
    return (offer<T>::offers(ops) || ...);
}

/* A method with a listed name that cannot be called as listed was meant to be an operation, which
   would be missing without a word. Of other families than the class's it may be anything. */
#define INTERLAP_FITS(wanted, name, signature, ...)                                                \
    static_assert(!(none || wanted) || __VA_ARGS__ || !has_name<void, name##_method, T>::value,    \
                  "method " #name " cannot be called as interlap.hpp lists it: " signature)
template <class T> constexpr void check_methods() {
    using o = offer<T>;
    using in = typename o::in;
    using out = typename o::out;
    using text = typename o::text;
    constexpr bool none = operations_of<T>::count() == 0;

    constexpr bool queue = o::is_queue;
    INTERLAP_FITS(queue, enqueue, "bool enqueue(int64_t value)", has<enqueue_method, T, in>);
    INTERLAP_FITS(queue, dequeue, "bool dequeue(int64_t &value)", has<dequeue_method, T, out>);
    INTERLAP_FITS(queue, enqueue_bulk, "size_t enqueue_bulk(const int64_t *values, size_t n)",
                  has<enqueue_bulk_method, T, const int64_t *, size_t>);
    INTERLAP_FITS(queue, dequeue_bulk, "size_t dequeue_bulk(int64_t *values, size_t most)",
                  has<dequeue_bulk_method, T, int64_t *, size_t>);

    INTERLAP_FITS(o::is_stack || o::is_deque, push, "bool push(int64_t value)",
                  has<push_method, T, in>);
    INTERLAP_FITS(false, pop, "bool pop(int64_t &value)", has<pop_method, T, out>);
    INTERLAP_FITS(o::is_deque, take, "bool take(int64_t &value)", has<take_method, T, out>);
    INTERLAP_FITS(o::is_deque, steal, "bool steal(int64_t &value)", has<steal_method, T, out>);

    constexpr bool set = offers_any<T>(IL_SET_INSERT, IL_SET_REMOVE, IL_SET_CONTAINS);
    constexpr bool map = o::is_map || has<put_method, T, in, in>;
    INTERLAP_FITS(set || o::is_priority, insert, "bool insert(int64_t)",
                  has<insert_method, T, in>);
    INTERLAP_FITS(set || map || o::is_store, remove, "bool remove(int64_t key)",
                  has<remove_method, T, in>);
    INTERLAP_FITS(set, contains, "bool contains(int64_t key)", has<contains_method, T, in>);
    INTERLAP_FITS(set, poll, "bool poll(int64_t &value)", has<poll_method, T, out>);
    INTERLAP_FITS(o::is_range_set, range_count, "int64_t range_count(int64_t low, int64_t high)",
                  has<range_count_method, T, in, in>);
    INTERLAP_FITS(o::is_range_set, rank, "int64_t rank(int64_t key)", has<rank_method, T, in>);
    INTERLAP_FITS(o::is_range_set, select, "bool select(int64_t n, int64_t &key)",
                  has<select_method, T, in, out>);
    INTERLAP_FITS(o::is_range_set, range_list,
                  "size_t range_list(int64_t low, int64_t high, int64_t *keys, size_t most)",
                  has<range_list_method, T, in, in, int64_t *, size_t>);

    INTERLAP_FITS(map || o::is_kv, get,
                  "bool get(int64_t key, int64_t &value), or of a kv "
                  "std::string get(const std::string &key)",
                  has<get_method, T, in, out> || o::is_kv);
    INTERLAP_FITS(map || o::is_kv, put,
                  "bool put(int64_t key, int64_t value), or of a kv "
                  "void put(const std::string &key, const std::string &value)",
                  has<put_method, T, in, in> || o::is_kv);
    INTERLAP_FITS(map, insert_if_absent, "bool insert_if_absent(int64_t key, int64_t value)",
                  has<insert_if_absent_method, T, in, in>);
    INTERLAP_FITS(map, compare_exchange,
                  "bool compare_exchange(int64_t key, int64_t old, int64_t value)",
                  has<compare_exchange_method, T, in, in, in>);

    INTERLAP_FITS(o::is_register, compare_exchange,
                  "bool compare_exchange(int64_t old, int64_t value)",
                  has<compare_exchange_method, T, in, in> ||
                      has<compare_exchange_method, T, in, in, in>);
    INTERLAP_FITS(o::is_register || o::is_counter, read,
                  "int64_t read(), or of a log or a store bool read(int64_t, int64_t &value)",
                  has<read_method, T> || has<read_method, T, in, out>);
    INTERLAP_FITS(o::is_register, write, "void write(int64_t value)",
                  has<write_method, T, in> || has<write_method, T, in, in>);
    INTERLAP_FITS(o::is_register, add, "void add(int64_t amount)", has<add_method, T, in>);

    INTERLAP_FITS(o::is_log || o::is_kv, append,
                  "bool append(int64_t value, int64_t &position), or of a kv "
                  "void append(const std::string &key, const std::string &value)",
                  o::is_log || has<append_method, T, text, text>);
    INTERLAP_FITS(o::is_log || o::is_store, read, "bool read(int64_t, int64_t &value)",
                  has<read_method, T> || has<read_method, T, in, out>);
    INTERLAP_FITS(o::is_log, check_tail, "int64_t check_tail()", has<check_tail_method, T>);

    INTERLAP_FITS(o::is_store, write, "bool write(int64_t key, int64_t value)",
                  has<write_method, T, in> || has<write_method, T, in, in>);
    INTERLAP_FITS(false, begin, "void begin()", has<begin_method, T>);
    INTERLAP_FITS(false, commit, "bool commit(), or bool commit(int64_t &timestamp)",
                  has<commit_method, T> || has<commit_method, T, out>);
    INTERLAP_FITS(o::is_store, abort, "void abort()", has<abort_method, T>);
}
#undef INTERLAP_FITS

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
inline bool watches_exceptions() {
    terminate_before = std::set_terminate(exception_ends);
    return true;
}

template <class T> const il_target *target() {
    check_methods<T>();
    static const bool watches = watches_exceptions();
    (void)watches;
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
