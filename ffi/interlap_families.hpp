/* The families: which of their operations a class offers by its methods, and how each is done.
   interlap.hpp lists the methods. */
#ifndef INTERLAP_FAMILIES_HPP
#define INTERLAP_FAMILIES_HPP

#include "interlap_signatures.hpp"

namespace interlap {
namespace detail {

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

/* The operations of families that are called with numbers: where a class offers each, its method,
   how that answers (a kind of `offer` below), what a no means, how many numbers it takes. */
#define INTERLAP_FAMILIES(X)                                                                       \
    X(IL_ENQUEUE, true, enqueue_as, yes, full, 1)                                                  \
    X(IL_DEQUEUE, true, dequeue_as, value, empty, 0)                                               \
    X(IL_ENQUEUE_BULK, true, enqueue_bulk_method, adds, full, 0)                                   \
    X(IL_DEQUEUE_BULK, true, dequeue_bulk_method, takes_up_to, empty, 1)                           \
    X(IL_QUEUE_SIZE, is_queue, size_method, number, failed, 0)                                     \
    X(IL_QUEUE_EMPTY, is_queue, empty_method, question, failed, 0)                                 \
    X(IL_PUSH, is_stack, push_method, yes, full, 1)                                                \
    X(IL_POP, is_stack, pop_method, value, empty, 0)                                               \
    X(IL_STACK_SIZE, is_stack, size_method, number, failed, 0)                                     \
    X(IL_STACK_EMPTY, is_stack, empty_method, question, failed, 0)                                 \
    X(IL_DEQUE_PUSH, is_deque, push_method, yes, full, 1)                                          \
    X(IL_DEQUE_TAKE, is_deque, take_method, value, empty, 0)                                       \
    X(IL_DEQUE_STEAL, is_deque, steal_method, value, empty, 0)                                     \
    X(IL_DEQUE_SIZE, is_deque, size_method, number, failed, 0)                                     \
    X(IL_DEQUE_EMPTY, is_deque, empty_method, question, failed, 0)                                 \
    X(IL_SET_INSERT, is_set, insert_method, change, failed, 1)                                     \
    X(IL_SET_REMOVE, is_set, remove_method, change, failed, 1)                                     \
    X(IL_SET_CONTAINS, true, contains_method, question, failed, 1)                                 \
    X(IL_SET_RANGE_COUNT, counts_keys, range_count_method, number, failed, 2)                      \
    X(IL_SET_RANK, counts_keys, rank_method, number, failed, 1)                                    \
    X(IL_SET_SIZE, counts_keys, size_method, number, failed, 0)                                    \
    X(IL_SET_SELECT, counts_keys, select_method, value, failed, 1)                                 \
    X(IL_SET_RANGE_LIST, counts_keys, range_list_method, lists, failed, 2)                         \
    X(IL_MAP_GET, is_map, get_method, value, failed, 1)                                            \
    X(IL_MAP_PUT, is_map, put_method, yes, failed, 2)                                              \
    X(IL_MAP_INSERT_IF_ABSENT, is_map, insert_if_absent_method, question, failed, 2)               \
    X(IL_MAP_REMOVE, is_map, remove_method, change, failed, 1)                                     \
    X(IL_MAP_COMPARE_EXCHANGE, is_map, compare_exchange_method, question, failed, 3)               \
    X(IL_REGISTER_READ, is_register, read_method, number, failed, 0)                               \
    X(IL_REGISTER_WRITE, is_register, write_method, yes, failed, 1)                                \
    X(IL_REGISTER_COMPARE_EXCHANGE, is_register, compare_exchange_method, question, failed, 2)     \
    X(IL_PRIORITY_INSERT, is_priority, insert_as, yes, full, 1)                                    \
    X(IL_PRIORITY_POLL, is_priority, poll_as, value, empty, 0)                                     \
    X(IL_PRIORITY_SIZE, is_priority, size_method, number, failed, 0)                               \
    X(IL_PRIORITY_EMPTY, is_priority, empty_method, question, failed, 0)                           \
    X(IL_COUNTER_ADD, is_counter, add_method, addition, failed, 1)                                 \
    X(IL_COUNTER_READ, is_counter, read_method, number, failed, 0)                                 \
    X(IL_LOG_APPEND, is_log, append_method, value, failed, 1)                                      \
    X(IL_LOG_READ, is_log, read_method, value, empty, 1)                                           \
    X(IL_LOG_CHECK_TAIL, is_log, check_tail_method, number, failed, 0)                             \
    X(IL_STORE_BEGIN, is_store, begin_method, addition, failed, 0)                                 \
    X(IL_STORE_READ, is_store, read_method, value, failed, 1)                                      \
    X(IL_STORE_WRITE, is_store, write_method, yes, failed, 2)                                      \
    X(IL_STORE_REMOVE, is_store, remove_method, yes, failed, 1)                                    \
    X(IL_STORE_COMMIT, is_store, commit_method, commitment, failed, 0)                             \
    X(IL_STORE_ABORT, is_store, abort_method, yes, failed, 0)

/* Otherwise debugging information may lack a method that never returns. */
#define INTERLAP_INLINED __attribute__((always_inline)) static void

/* The operations a class offers, and how each is done. Of a class that lists its methods push and
   pop may also be those of a queue or of a priority queue: the model says. */
template <class T, bool by_list = false> struct offer {
    using local = typename local_of<T>::type;
    using in = int64_t;
    using text = const std::string &;

    /* A call with so many numbers, which are checked where they may not fit. */
    template <class M, size_t n, class Number>
    using with_any = takes<M, T, Number, std::make_index_sequence<n>>;
    template <class M, size_t n>
    static constexpr bool is_checked =
        known_parameters<void, M, T>::are_narrow &&
        (with_any<M, n, any_number>::alone || with_any<M, n, any_number>::fills);
    template <class M, size_t n>
    using with = with_any<M, n, std::conditional_t<is_checked<M, n>, any_number, in>>;

    /* It is done, or it is not. */
    template <class M, size_t n> struct yes {
        static constexpr bool offered = with<M, n>::alone;
        static constexpr bool suits = is_yes<typename with<M, n>::result>;
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) {
            c->status = static_cast<uint32_t>(with<M, n>::answered(no, t, l, c->args));
        }
    };

    /* It leaves a key in or out, and may say whether it was so before. */
    template <class M, size_t n> struct change : yes<M, n> {
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) {
            yes<M, n>::run(c, no, t, l);
            if constexpr (std::is_void_v<typename with<M, n>::result>) c->status = IL_DONE;
        }
    };

    /* The answer is checked: true, or false. */
    template <class M, size_t n> struct question : yes<M, n> {
        using result = typename with<M, n>::result;
        static constexpr bool suits = is_yes<result> && !std::is_void_v<result>;
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) {
            static_assert(!std::is_void_v<result>,
                          "this method must say whether it changed or found something (bool, or "
                          "interlap::status): nothing else is checked of it");
            yes<M, n>::run(c, no, t, l);
        }
    };

    /* It always hands out one number. */
    template <class M, size_t n> struct number {
        using result = typename with<M, n>::result;
        static constexpr bool offered = with<M, n>::alone;
        static constexpr bool suits = is_count<result>;
        INTERLAP_INLINED run(il_call *c, status, T &t, local &l) {
            static_assert(is_count<result>,
                          "a target's method that reads a number returns it: int64_t or size_t");
            c->results[0] = static_cast<int64_t>(with<M, n>::invoked(t, l, c->args));
            c->result_count = 1;
        }
    };

    /* It hands out one value, or none. */
    template <class M, size_t n> struct value {
        static constexpr bool fills = with<M, n>::fills;
        static constexpr bool offered = fills || is_optional<typename with<M, n>::result>::value;
        static constexpr bool suits = !fills || is_yes<typename with<M, n>::filling>;
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) {
            typename with<M, n>::out found{};
            status s = status::ok;
            if constexpr (fills) {
                s = with<M, n>::answered(no, t, l, c->args, found);
            } else {
                auto maybe = with<M, n>::invoked(t, l, c->args);
                if (maybe.has_value())
                    c->results[0] = static_cast<int64_t>(*maybe);
                else
                    s = no;
            }
            c->status = static_cast<uint32_t>(s);
            if constexpr (fills) c->results[0] = static_cast<int64_t>(found);
            if (s == status::ok) c->result_count = 1;
        }
    };

    /* It is done, and may say a number: what was there before, or a timestamp. */
    template <class M, size_t n> struct addition : yes<M, n> {
        using result = typename with<M, n>::result;
        static constexpr bool suits = is_yes<result> || is_count<result>;
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) {
            std::conditional_t<is_yes<result>, yes<M, n>, number<M, n>>::run(c, no, t, l);
        }
    };

    /* It is done, and may fill in its timestamp, or it is not. */
    template <class M, size_t n> struct commitment {
        using kind = std::conditional_t<with<M, n>::fills, value<M, n>, yes<M, n>>;
        static constexpr bool offered = kind::offered, suits = kind::suits;
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) { kind::run(c, no, t, l); }
    };

    /* It takes any count of numbers, and may say how many were done. */
    template <class M, size_t> struct adds {
        static constexpr bool by_pointer = has<M, T, const int64_t *, size_t>;
        static constexpr bool offered = by_pointer || has<M, T, any_numbers>;
        using result = std::conditional_t<by_pointer, result_of<M, T, const int64_t *, size_t>,
                                          result_of<M, T, any_numbers>>;
        static constexpr bool suits = is_yes<result> || is_count<result>;
        template <class... A> static void with(il_call *c, status no, T &t, local &l, A... all) {
            if constexpr (is_yes<result>) {
                c->status = static_cast<uint32_t>(answer<M>(no, t, l, all...));
            } else {
                c->results[0] = static_cast<int64_t>(invoke<M>(t, l, all...));
                c->result_count = 1;
            }
        }
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) {
            const size_t count = c->arg_count;
            if constexpr (by_pointer)
                with(c, no, t, l, c->args, count);
            else
                with(c, no, t, l, any_numbers{c->args, count});
        }
    };

    /* It hands out a list of numbers: by its result, or to a place with room for so many. */
    template <class M, size_t n> struct lists {
        template <class... A> using to_place = result_of<M, T, A..., int64_t *, size_t>;
        using placed = std::conditional_t<n == 2, to_place<in, in>, to_place<>>;
        static constexpr bool by_place = !std::is_same_v<placed, uncallable>;
        static constexpr bool suits = is_list_of_numbers<typename with<M, n>::result>::value;
        static constexpr bool offered = by_place || suits;
        /* How many its result has. Those for which there is no room are not kept. */
        static size_t listed(il_call *c, T &t, local &l) {
            size_t count = 0;
            for (auto &&found : with<M, n>::invoked(t, l, c->args)) {
                if (count < c->result_room) c->results[count] = static_cast<int64_t>(found);
                count++;
            }
            return count;
        }
        INTERLAP_INLINED run(il_call *c, status, T &t, local &l) {
            size_t count = 0, most = c->result_room;
            if constexpr (by_place)
                count = invoke<M>(t, l, c->args[0], c->args[1], c->results, most);
            else
                count = listed(c, t, l);
            c->result_count = static_cast<uint32_t>(by_place || count < most ? count : most);
        }
    };

    /* It takes up to so many values, which it lists; or it says that it took all, or none because
       fewer are inside. */
    template <class M, size_t n> struct takes_up_to : lists<M, n> {
        using placed = typename lists<M, n>::placed;
        INTERLAP_INLINED run(il_call *c, status no, T &t, local &l) {
            size_t count = 0, most = static_cast<size_t>(c->args[0]);
            bool is_none = false;
            if constexpr (std::is_same_v<placed, bool>)
                count = (is_none = !invoke<M>(t, l, c->results, most)) ? 0 : most;
            else if constexpr (lists<M, n>::by_place)
                is_none = (count = invoke<M>(t, l, c->results, most)) == 0;
            else
                is_none = (count = lists<M, n>::listed(c, t, l)) == 0;
            c->result_count = static_cast<uint32_t>(count);
            const bool are_fewer = std::is_same_v<placed, bool> && most > 1;
            if (is_none) c->status = static_cast<uint32_t>(are_fewer ? status::failed : no);
        }
    };

    static constexpr bool pushes = by_list && yes<push_method, 1>::offered;
    static constexpr bool pops = by_list && value<pop_method, 0>::offered;
    using enqueue_as =
        std::conditional_t<pushes && !yes<enqueue_method, 1>::offered, push_method, enqueue_method>;
    using dequeue_as =
        std::conditional_t<pops && !value<dequeue_method, 0>::offered, pop_method, dequeue_method>;
    using insert_as =
        std::conditional_t<pushes && !yes<insert_method, 1>::offered, push_method, insert_method>;
    using poll_as =
        std::conditional_t<pops && !value<poll_method, 0>::offered, pop_method, poll_method>;

    static constexpr bool is_deque =
        value<take_method, 0>::offered || value<steal_method, 0>::offered;
    static constexpr bool is_map = value<get_method, 1>::offered;
    static constexpr bool is_priority = value<poll_as, 0>::offered;
    static constexpr bool is_set =
        !is_map && !value<poll_method, 0>::offered &&
        (has<contains_method, T, in> || has<insert_method, T, in>);
    static constexpr bool is_stack = value<pop_method, 0>::offered;
    static constexpr bool is_counter = has<add_method, T, in>;
    static constexpr bool is_log = value<append_method, 1>::offered;
    static constexpr bool is_kv =
        !is_map && has<get_method, T, text> && has<put_method, T, text, text>;
    static constexpr bool is_store =
        has<begin_method, T> && commitment<commit_method, 0>::offered;
    static constexpr bool is_register =
        !is_counter && !is_log && !is_store && has<read_method, T>;

    /* Whether keys are counted, too: of a class that calls itself a mere set they are not, so that
       it may have a size() of its own that promises nothing. */
    static constexpr bool counts_keys =
        is_set && (model_option<T>::value == nullptr || !same_text(model_option<T>::value, "set"));
    static constexpr bool is_range_set =
        counts_keys && (has<range_count_method, T, in, in> || has<rank_method, T, in> ||
                        has<size_method, T> || value<select_method, 1>::offered ||
                        lists<range_list_method, 2>::offered);

    static constexpr bool is_queue = yes<enqueue_as, 1>::offered || value<dequeue_as, 0>::offered ||
                                     adds<enqueue_bulk_method, 0>::offered ||
                                     takes_up_to<dequeue_bulk_method, 1>::offered;

    /* An operation: whether it is offered, whether the method then answers as one, its name. */
    struct operation {
        bool offered, suits;
        const char *name;
    };
    static constexpr operation of(uint32_t op) {
        switch (op) {
#define INTERLAP_ROW(op, where, method, kind, no, numbers)                                         \
    case op:                                                                                       \
        return {where && kind<method, numbers>::offered, kind<method, numbers>::suits,             \
                method::text};
            INTERLAP_FAMILIES(INTERLAP_ROW)
#undef INTERLAP_ROW
        case IL_KV_GET:
            return {is_kv, std::is_same_v<result_of<get_method, T, text>, std::string>, "get"};
        case IL_KV_PUT: return {is_kv, is_yes<result_of<put_method, T, text, text>>, "put"};
        case IL_KV_APPEND:
            return {is_kv && has<append_method, T, text, text>,
                    is_yes<result_of<append_method, T, text, text>>, "append"};
        default: return {};
        }
    }
    static constexpr bool offers(uint32_t op) { return of(op).offered; }

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

    /* What is not offered is not compiled; nor, of listed methods, what answers otherwise. */
    static constexpr bool runs(uint32_t op) {
        return of(op).offered && (!by_list || of(op).suits);
    }

    static void run(il_call *c, T &t, local &l) {
#define INTERLAP_CASE(op, ...)                                                                     \
    case op:                                                                                       \
        if constexpr (runs(op)) {                                                                  \
            __VA_ARGS__;                                                                           \
            return;                                                                                \
        }                                                                                          \
        break;
#define INTERLAP_ROW(op, where, method, kind, no, numbers)                                         \
    INTERLAP_CASE(op, kind<method, numbers>::run(c, status::no, t, l))
        switch (c->op) {
            INTERLAP_FAMILIES(INTERLAP_ROW)
            INTERLAP_CASE(IL_KV_GET, kv_get(c, t, l))
            INTERLAP_CASE(IL_KV_PUT, kv_change<put_method>(c, t, l))
            INTERLAP_CASE(IL_KV_APPEND, kv_change<append_method>(c, t, l))
        }
#undef INTERLAP_ROW
#undef INTERLAP_CASE
        c->status = IL_UNSUPPORTED;
    }
};

#undef INTERLAP_INLINED

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

constexpr uint32_t op_end = IL_STORE_ABORT + 1; /* past the last il_op */

/* Of a class that lists its methods, with their names, and with room for the listed ones. */
template <class T, bool by_list = false> struct operations_of {
    using offers = offer<T, by_list>;
    static constexpr uint32_t count() {
        uint32_t n = 0;
        for (uint32_t op = 0; op < op_end; op++) n += offers::runs(op);
        return n;
    }
    il_operation list[count() + (by_list ? IL_METHODS_MAX : 1)] = {};
    constexpr operations_of() {
        uint32_t n = 0;
        for (uint32_t op = 0; op < op_end; op++)
            if (offers::runs(op))
                list[n++] = {op, role_of<T>(op), by_list ? offers::of(op).name : nullptr};
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
    using text = typename o::text;
    constexpr bool none = operations_of<T>::count() == 0;

    constexpr bool queue = o::is_queue;
    INTERLAP_FITS(queue, enqueue, "bool enqueue(int64_t value)", has<enqueue_method, T, in>);
    INTERLAP_FITS(queue, dequeue, "bool dequeue(int64_t &value) or optional<int64_t> dequeue()",
                  o::offers(IL_DEQUEUE));
    INTERLAP_FITS(queue, enqueue_bulk, "size_t enqueue_bulk(const int64_t *values, size_t n)",
                  o::offers(IL_ENQUEUE_BULK));
    INTERLAP_FITS(queue, dequeue_bulk, "size_t dequeue_bulk(int64_t *values, size_t most)",
                  o::offers(IL_DEQUEUE_BULK));

    INTERLAP_FITS(o::is_stack || o::is_deque, push, "bool push(int64_t value)",
                  has<push_method, T, in>);
    INTERLAP_FITS(false, pop, "bool pop(int64_t &value) or optional<int64_t> pop()",
                  o::is_stack);
    INTERLAP_FITS(o::is_deque, take, "bool take(int64_t &value) or optional<int64_t> take()",
                  o::offers(IL_DEQUE_TAKE));
    INTERLAP_FITS(o::is_deque, steal, "bool steal(int64_t &value) or optional<int64_t> steal()",
                  o::offers(IL_DEQUE_STEAL));

    constexpr bool set = offers_any<T>(IL_SET_INSERT, IL_SET_REMOVE, IL_SET_CONTAINS);
    constexpr bool map = o::is_map || has<put_method, T, in, in>;
    INTERLAP_FITS(set || o::is_priority, insert, "bool insert(int64_t)",
                  has<insert_method, T, in>);
    INTERLAP_FITS(set || map || o::is_store, remove, "bool remove(int64_t key)",
                  has<remove_method, T, in>);
    INTERLAP_FITS(set, contains, "bool contains(int64_t key)", has<contains_method, T, in>);
    INTERLAP_FITS(set, poll, "bool poll(int64_t &value) or optional<int64_t> poll()",
                  o::is_priority);
    INTERLAP_FITS(o::is_range_set, range_count, "int64_t range_count(int64_t low, int64_t high)",
                  has<range_count_method, T, in, in>);
    INTERLAP_FITS(o::is_range_set, rank, "int64_t rank(int64_t key)", has<rank_method, T, in>);
    INTERLAP_FITS(o::is_range_set, select, "bool select(int64_t n, int64_t &key)",
                  o::offers(IL_SET_SELECT));
    INTERLAP_FITS(o::is_range_set, range_list,
                  "size_t range_list(int64_t low, int64_t high, int64_t *keys, size_t most)",
                  o::offers(IL_SET_RANGE_LIST));

    INTERLAP_FITS(map || o::is_kv, get,
                  "bool get(int64_t key, int64_t &value) or optional<int64_t>, of a kv "
                  "std::string get(const std::string &key)",
                  o::is_map || o::is_kv);
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
                  has<read_method, T> || o::template value<read_method, 1>::offered);
    INTERLAP_FITS(o::is_register, write, "void write(int64_t value)",
                  has<write_method, T, in> || has<write_method, T, in, in>);
    INTERLAP_FITS(o::is_register, add, "void add(int64_t amount)", has<add_method, T, in>);

    INTERLAP_FITS(o::is_log || o::is_kv, append,
                  "bool append(int64_t value, int64_t &position), or of a kv "
                  "void append(const std::string &key, const std::string &value)",
                  o::is_log || has<append_method, T, text, text>);
    INTERLAP_FITS(o::is_log || o::is_store, read, "bool read(int64_t, int64_t &value)",
                  has<read_method, T> || o::template value<read_method, 1>::offered);
    INTERLAP_FITS(o::is_log, check_tail, "int64_t check_tail()", has<check_tail_method, T>);

    INTERLAP_FITS(o::is_store, write, "bool write(int64_t key, int64_t value)",
                  has<write_method, T, in> || has<write_method, T, in, in>);
    INTERLAP_FITS(false, begin, "void begin()", has<begin_method, T>);
    INTERLAP_FITS(false, commit, "bool commit(), or bool commit(int64_t &timestamp)",
                  o::template commitment<commit_method, 0>::offered);
    INTERLAP_FITS(o::is_store, abort, "void abort()", has<abort_method, T>);
}
#undef INTERLAP_FITS

} // namespace detail
} // namespace interlap

#endif
