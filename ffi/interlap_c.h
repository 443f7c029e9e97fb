/*
 * interlap_c.h: turns functions in C11 into a target. See interlap.h for what a target is.
 *
 *     #include <interlap_c.h>
 *     #include <my_queue.h>
 *
 *     static bool enqueue(struct my_queue *queue, int64_t value) { return !my_put(queue, value); }
 *     static bool dequeue(struct my_queue *queue, int64_t *value) { return !my_get(queue, value); }
 *     INTERLAP_QUEUE(struct my_queue, .create = my_queue_new, .destroy = my_queue_free,
 *                    .enqueue = enqueue, .dequeue = dequeue, .model = "fifo")
 *
 * Each family has a macro. It takes the type of the structure, and then what there is of the
 * following; the functions decide which operations are offered. Each takes the structure first.
 *
 *     INTERLAP_QUEUE           bool enqueue(int64_t value)                        false: full
 *                              bool dequeue(int64_t *value)                       false: empty
 *                              size_t enqueue_bulk(const int64_t *values, size_t n)   how many
 *                              size_t dequeue_bulk(int64_t *values, size_t most)      how many;
 *                              with il_answer(IL_FAILED): fewer than `most` are inside
 *     Of this one, the next two and PRIORITY_QUEUE, too:
 *                              int64_t size(void)             how many values are inside
 *                              bool empty(void)
 *     INTERLAP_STACK           bool push(int64_t value)       bool pop(int64_t *value)
 *     INTERLAP_DEQUE           bool push(int64_t value)       by the owner, thread 0
 *                              bool take(int64_t *value)      by the owner
 *                              bool steal(int64_t *value)     by every other thread
 *     INTERLAP_SET             bool insert(int64_t key)       false: it was there already
 *                              bool remove(int64_t key)       false: it was not there
 *                              bool contains(int64_t key)
 *     INTERLAP_RANGE_SET       those of a set, and; ranges include both ends:
 *                              int64_t range_count(int64_t low, int64_t high)
 *                              int64_t rank(int64_t key)                      how many are below
 *                              int64_t size(void)
 *                              bool select(int64_t n, int64_t *key)               above n others
 *                              size_t range_list(int64_t low, int64_t high, int64_t *keys,
 *                                                size_t most)                 from the lowest up
 *     INTERLAP_MAP             bool get(int64_t key, int64_t *value)              false: absent
 *                              void put(int64_t key, int64_t value)
 *                              bool insert_if_absent(int64_t key, int64_t value)  false: present
 *                              bool remove(int64_t key)                           false: absent
 *                              bool compare_exchange(int64_t key, int64_t old, int64_t value)
 *     INTERLAP_REGISTER        int64_t read(void)             void write(int64_t value)
 *                              bool compare_exchange(int64_t old, int64_t value)
 *     INTERLAP_PRIORITY_QUEUE  bool insert(int64_t value)     bool poll(int64_t *value)
 *     INTERLAP_COUNTER         void add(int64_t amount, int64_t *before)
 *                              int64_t read(void)
 *     INTERLAP_LOG             bool append(int64_t value, int64_t *position)
 *                              bool read(int64_t position, int64_t *value)  false: not there yet
 *                              int64_t check_tail(void)       how many records there are
 *     INTERLAP_KV              char *get(const char *key)     from malloc; NULL: nothing was put
 *                              void put(const char *key, const char *value)
 *                              void append(const char *key, const char *value)
 *     INTERLAP_STORE           void begin(int64_t *timestamp)                     (transactions)
 *                              bool read(int64_t key, int64_t *value)             false: absent
 *                              bool write(int64_t key, int64_t value)   false: refused; an
 *                              bool remove(int64_t key)                 abort follows
 *                              bool commit(int64_t *timestamp)          false: rolled back
 *                              void abort(void)
 *
 * A structure of no family lists its methods, which need no model:
 *
 *     INTERLAP_OPERATIONS      .methods = {{"acquire() -> int", acquire}, ...}: the signature (see
 *                              interlap.h), a function void acquire(structure *, il_call *),
 *                              which reads call->args and answers with il_put(call, word), and
 *                              an il_role where not every thread may call it
 *
 * What add, begin and commit do not write into their last parameter they do not tell.
 * Any function may `return il_answer(...)` (void ones: call it): IL_UNKNOWN, it may have happened,
 * may happen later, or never; IL_UNSUPPORTED, nothing was done, draw another call; IL_EMPTY; and of
 * insert and remove of a set and remove of a map IL_DONE: whether the key was in is not said.
 * il_narrow_open() and il_narrow_close() narrow the timebox as il_box_open and il_box_close do.
 *
 * Of every family:
 *
 *     .create     structure *create(void), or .create_with  structure *create(const il_config *)
 *     .destroy    void destroy(structure *)
 *     .enter      void enter(structure *, uint32_t thread)    on each thread, before its first call
 *     .leave      void leave(structure *)                     on each thread, after its last
 *     .model, .library, .version, .one_producer, .one_consumer, .thread_max, .capacity, .block_size
 *                 as in interlap.hpp
 *
 * What each thread needs for itself (a token, a session, a transaction) is a _Thread_local
 * variable, which enter sets.
 */
#ifndef INTERLAP_C_H
#define INTERLAP_C_H

#include "interlap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local il_call *il_current;
/* No step of the structure's, so without the engine's hooks. */
__attribute__((noinline, no_sanitize("thread"), unused)) static void
il_is_under_way(il_call *call) {
    il_current = call;
}

/* Answers this instead of what the function returns. */
static inline bool il_answer(enum il_status status) {
    il_current->status = status;
    return false;
}
static inline void il_narrow_open(void) { il_box_open(il_current); }
static inline void il_narrow_close(void) { il_box_close(il_current); }

/* Appends a word to what a method answers. */
static inline void il_put(il_call *call, int64_t word) {
    if (call->result_count == call->result_room)
        il_error(call->host, "a method answered more words than a call has room for");
    call->results[call->result_count++] = word;
}

/* Which threads make a call: the one producer or consumer, if there is one, the owner, a thief. */
enum il_part { IL_BY_ANY, IL_PRODUCES, IL_CONSUMES, IL_APPENDS, IL_OWNS, IL_STEALS };

static inline uint32_t il_role_of(enum il_part part, bool producer, bool consumer) {
    switch (part) {
    case IL_PRODUCES: return producer ? IL_FIRST_THREAD : consumer ? IL_OTHER_THREADS : 0;
    case IL_CONSUMES: return producer ? IL_OTHER_THREADS : consumer ? IL_FIRST_THREAD : 0;
    case IL_APPENDS: return producer ? IL_FIRST_THREAD : IL_ANY_THREAD;
    case IL_OWNS: return IL_FIRST_THREAD;
    case IL_STEALS: return IL_OTHER_THREADS;
    default: return IL_ANY_THREAD;
    }
}

/* Answers: `no` if the function said so; with a value if it said yes; a number; values. */
static inline void il_yes(il_call *c, enum il_status no, bool yes) {
    if (!yes && c->status == IL_OK) c->status = no;
}
static inline void il_value(il_call *c, enum il_status no, bool yes) {
    il_yes(c, no, yes);
    if (c->status == IL_OK) c->result_count = 1;
}
static inline void il_number(il_call *c, int64_t number) {
    c->results[0] = number;
    if (c->status == IL_OK) c->result_count = 1;
}
static inline void il_values(il_call *c, enum il_status none, size_t count) {
    if (count == 0) il_yes(c, none, false);
    if (c->status == IL_OK) c->result_count = (uint32_t)count;
}

/* What stands for a number that a function did not write. */
#define IL_UNTOLD INT64_MIN
static inline void il_perhaps(il_call *c, bool yes) {
    il_value(c, IL_FAILED, yes);
    if (c->results[0] == IL_UNTOLD) c->result_count = 0;
}

/* Strings: a key has a number; a value is put together from numbers, each with an end. */
struct il_text { char key[32], value[IL_RESULT_ROOM * 21 + 1]; };

static inline void il_write_text(struct il_text *text, il_call *c) {
    char *at = text->value;
    snprintf(text->key, sizeof text->key, "key%lld", (long long)c->args[0]);
    *at = 0;
    for (uint32_t n = 1; n < c->arg_count && n < IL_RESULT_ROOM; n++)
        at += sprintf(at, "%lld;", (long long)c->args[n]);
    il_box_open(c);
}

/* A rest that is no text of a number stands for -1, which is never drawn. */
static inline void il_read_text(il_call *c, char *found) {
    if (c->end == 0) il_box_close(c);
    for (char *at = found; at != NULL && *at != 0 && c->status == IL_OK;) {
        char *end = at + strspn(at, "0123456789");
        bool whole = end > at && end - at <= 19 && *end == ';';
        if (c->result_count == c->result_room) {
            c->status = IL_UNKNOWN; /* no room: then the answer makes no claim */
            c->result_count = 0;
        } else {
            c->results[c->result_count++] = whole ? (int64_t)strtoull(at, NULL, 10) : -1;
            at = whole ? end + 1 : at + strlen(at);
        }
    }
    free(found);
}

/* The operations of each family: X(il_op, part, what its function returns, name, parameters, code
   that calls it). */
#define IL_QUEUE_OF(X, T)                                                                          \
    X(IL_ENQUEUE, IL_PRODUCES, bool, enqueue, (T *, int64_t), il_yes(c, IL_FULL, f(it, a[0])))     \
    X(IL_DEQUEUE, IL_CONSUMES, bool, dequeue, (T *, int64_t *), il_value(c, IL_EMPTY, f(it, r)))   \
    X(IL_ENQUEUE_BULK, IL_PRODUCES, size_t, enqueue_bulk, (T *, const int64_t *, size_t),          \
      il_number(c, (int64_t)f(it, a, c->arg_count)))                                               \
    X(IL_DEQUEUE_BULK, IL_CONSUMES, size_t, dequeue_bulk, (T *, int64_t *, size_t),                \
      il_values(c, IL_EMPTY, f(it, r, (size_t)a[0])))                                              \
    X(IL_QUEUE_SIZE, IL_BY_ANY, int64_t, size, (T *), il_number(c, f(it)))                         \
    X(IL_QUEUE_EMPTY, IL_BY_ANY, bool, empty, (T *), il_yes(c, IL_FAILED, f(it)))
#define IL_STACK_OF(X, T)                                                                          \
    X(IL_PUSH, IL_PRODUCES, bool, push, (T *, int64_t), il_yes(c, IL_FULL, f(it, a[0])))           \
    X(IL_POP, IL_CONSUMES, bool, pop, (T *, int64_t *), il_value(c, IL_EMPTY, f(it, r)))           \
    X(IL_STACK_SIZE, IL_BY_ANY, int64_t, size, (T *), il_number(c, f(it)))                         \
    X(IL_STACK_EMPTY, IL_BY_ANY, bool, empty, (T *), il_yes(c, IL_FAILED, f(it)))
#define IL_DEQUE_OF(X, T)                                                                          \
    X(IL_DEQUE_PUSH, IL_OWNS, bool, push, (T *, int64_t), il_yes(c, IL_FULL, f(it, a[0])))         \
    X(IL_DEQUE_TAKE, IL_OWNS, bool, take, (T *, int64_t *), il_value(c, IL_EMPTY, f(it, r)))       \
    X(IL_DEQUE_STEAL, IL_STEALS, bool, steal, (T *, int64_t *), il_value(c, IL_EMPTY, f(it, r)))   \
    X(IL_DEQUE_SIZE, IL_BY_ANY, int64_t, size, (T *), il_number(c, f(it)))                         \
    X(IL_DEQUE_EMPTY, IL_BY_ANY, bool, empty, (T *), il_yes(c, IL_FAILED, f(it)))
#define IL_SET_OF(X, T)                                                                            \
    X(IL_SET_INSERT, IL_BY_ANY, bool, insert, (T *, int64_t), il_yes(c, IL_FAILED, f(it, a[0])))   \
    X(IL_SET_REMOVE, IL_BY_ANY, bool, remove, (T *, int64_t), il_yes(c, IL_FAILED, f(it, a[0])))   \
    X(IL_SET_CONTAINS, IL_BY_ANY, bool, contains, (T *, int64_t),                                  \
      il_yes(c, IL_FAILED, f(it, a[0])))
#define IL_RANGE_SET_OF(X, T)                                                                      \
    IL_SET_OF(X, T)                                                                                \
    X(IL_SET_RANGE_COUNT, IL_BY_ANY, int64_t, range_count, (T *, int64_t, int64_t),                \
      il_number(c, f(it, a[0], a[1])))                                                             \
    X(IL_SET_RANK, IL_BY_ANY, int64_t, rank, (T *, int64_t), il_number(c, f(it, a[0])))            \
    X(IL_SET_SIZE, IL_BY_ANY, int64_t, size, (T *), il_number(c, f(it)))                           \
    X(IL_SET_SELECT, IL_BY_ANY, bool, select, (T *, int64_t, int64_t *),                           \
      il_value(c, IL_FAILED, f(it, a[0], r)))                                                      \
    X(IL_SET_RANGE_LIST, IL_BY_ANY, size_t, range_list,                                            \
      (T *, int64_t, int64_t, int64_t *, size_t),                                                  \
      il_values(c, IL_OK, f(it, a[0], a[1], r, c->result_room)))
#define IL_MAP_OF(X, T)                                                                            \
    X(IL_MAP_GET, IL_BY_ANY, bool, get, (T *, int64_t, int64_t *),                                 \
      il_value(c, IL_FAILED, f(it, a[0], r)))                                                      \
    X(IL_MAP_PUT, IL_BY_ANY, void, put, (T *, int64_t, int64_t), f(it, a[0], a[1]))                \
    X(IL_MAP_INSERT_IF_ABSENT, IL_BY_ANY, bool, insert_if_absent, (T *, int64_t, int64_t),         \
      il_yes(c, IL_FAILED, f(it, a[0], a[1])))                                                     \
    X(IL_MAP_REMOVE, IL_BY_ANY, bool, remove, (T *, int64_t), il_yes(c, IL_FAILED, f(it, a[0])))   \
    X(IL_MAP_COMPARE_EXCHANGE, IL_BY_ANY, bool, compare_exchange,                                  \
      (T *, int64_t, int64_t, int64_t), il_yes(c, IL_FAILED, f(it, a[0], a[1], a[2])))
#define IL_REGISTER_OF(X, T)                                                                       \
    X(IL_REGISTER_READ, IL_BY_ANY, int64_t, read, (T *), il_number(c, f(it)))                      \
    X(IL_REGISTER_WRITE, IL_BY_ANY, void, write, (T *, int64_t), f(it, a[0]))                      \
    X(IL_REGISTER_COMPARE_EXCHANGE, IL_BY_ANY, bool, compare_exchange, (T *, int64_t, int64_t),    \
      il_yes(c, IL_FAILED, f(it, a[0], a[1])))
#define IL_PRIORITY_QUEUE_OF(X, T)                                                                 \
    X(IL_PRIORITY_INSERT, IL_PRODUCES, bool, insert, (T *, int64_t),                               \
      il_yes(c, IL_FULL, f(it, a[0])))                                                             \
    X(IL_PRIORITY_POLL, IL_CONSUMES, bool, poll, (T *, int64_t *),                                 \
      il_value(c, IL_EMPTY, f(it, r)))                                                             \
    X(IL_PRIORITY_SIZE, IL_BY_ANY, int64_t, size, (T *), il_number(c, f(it)))                      \
    X(IL_PRIORITY_EMPTY, IL_BY_ANY, bool, empty, (T *), il_yes(c, IL_FAILED, f(it)))
#define IL_COUNTER_OF(X, T)                                                                        \
    X(IL_COUNTER_ADD, IL_BY_ANY, void, add, (T *, int64_t, int64_t *), f(it, a[0], r);             \
      il_perhaps(c, true))                                                                         \
    X(IL_COUNTER_READ, IL_BY_ANY, int64_t, read, (T *), il_number(c, f(it)))
#define IL_LOG_OF(X, T)                                                                            \
    X(IL_LOG_APPEND, IL_APPENDS, bool, append, (T *, int64_t, int64_t *),                          \
      il_value(c, IL_FAILED, f(it, a[0], r)))                                                      \
    X(IL_LOG_READ, IL_BY_ANY, bool, read, (T *, int64_t, int64_t *),                               \
      il_value(c, IL_EMPTY, f(it, a[0], r)))                                                       \
    X(IL_LOG_CHECK_TAIL, IL_BY_ANY, int64_t, check_tail, (T *), il_number(c, f(it)))
#define IL_KV_OF(X, T)                                                                             \
    X(IL_KV_GET, IL_BY_ANY, char *, get, (T *, const char *), struct il_text text;                 \
      il_write_text(&text, c); il_read_text(c, f(it, text.key)))                                   \
    X(IL_KV_PUT, IL_BY_ANY, void, put, (T *, const char *, const char *), struct il_text text;     \
      il_write_text(&text, c); f(it, text.key, text.value); il_read_text(c, NULL))                 \
    X(IL_KV_APPEND, IL_BY_ANY, void, append, (T *, const char *, const char *),                    \
      struct il_text text; il_write_text(&text, c); f(it, text.key, text.value);                   \
      il_read_text(c, NULL))
#define IL_STORE_OF(X, T)                                                                          \
    X(IL_STORE_BEGIN, IL_BY_ANY, void, begin, (T *, int64_t *), f(it, r); il_perhaps(c, true))     \
    X(IL_STORE_READ, IL_BY_ANY, bool, read, (T *, int64_t, int64_t *),                             \
      il_value(c, IL_FAILED, f(it, a[0], r)))                                                      \
    X(IL_STORE_WRITE, IL_BY_ANY, bool, write, (T *, int64_t, int64_t),                             \
      il_yes(c, IL_FAILED, f(it, a[0], a[1])))                                                     \
    X(IL_STORE_REMOVE, IL_BY_ANY, bool, remove, (T *, int64_t), il_yes(c, IL_FAILED, f(it, a[0]))) \
    X(IL_STORE_COMMIT, IL_BY_ANY, bool, commit, (T *, int64_t *), il_perhaps(c, f(it, r)))         \
    X(IL_STORE_ABORT, IL_BY_ANY, void, abort, (T *), f(it))

#define IL_MEMBER(op, part, type, name, parameters, ...) type(*name) parameters;
#define IL_COUNTED(op, part, type, name, parameters, ...) +1
#define IL_OFFERED(op, part, type, name, parameters, ...)                                          \
    if (il_given.name != NULL)                                                                     \
        operations[target.operation_count++] = (il_operation){                                     \
            op, il_role_of(part, il_given.one_producer, il_given.one_consumer), NULL};
#define IL_CASE(op, part, type, name, parameters, ...)                                             \
    case op: {                                                                                     \
        type(*const f) parameters = il_given.name;                                                 \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }

/* A function of another type is an error: it would be called with the wrong arguments. */
#define IL_STRICT                                                                                  \
    _Pragma("GCC diagnostic push")                                                                 \
    _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"")

/* What is given, and the functions of a target but for its calls. */
#define IL_GIVEN(T, MEMBERS, ...)                                                                  \
    struct il_given {                                                                              \
        const char *model, *library, *version;                                                     \
        bool one_producer, one_consumer;                                                           \
        uint32_t thread_max, capacity, block_size;                                                 \
        T *(*create)(void);                                                                        \
        T *(*create_with)(const il_config *);                                                      \
        void (*destroy)(T *);                                                                      \
        void (*enter)(T *, uint32_t);                                                              \
        void (*leave)(T *);                                                                        \
        MEMBERS                                                                                    \
    };                                                                                             \
    IL_STRICT                                                                                      \
    static const struct il_given il_given = {__VA_ARGS__};                                         \
    _Pragma("GCC diagnostic pop")                                                                  \
    static void *il_create(const il_config *config) {                                              \
        return il_given.create != NULL ? il_given.create() : il_given.create_with(config);         \
    }                                                                                              \
    static void il_destroy(void *it) { il_given.destroy(it); }                                     \
    static void *il_enter(void *it, uint32_t thread) {                                             \
        if (il_given.enter != NULL) il_given.enter(it, thread);                                    \
        return it;                                                                                 \
    }                                                                                              \
    static void il_leave(void *it, void *local) {                                                  \
        (void)local;                                                                               \
        if (il_given.leave != NULL) il_given.leave(it);                                            \
    }

/* The function that describes the target; OFFERS fills `operations`, of which there may be MOST. */
#define IL_DESCRIBED(MOST, usual_model, OFFERS)                                                    \
    const il_target *interlap_target(void) {                                                       \
        static il_operation operations[MOST];                                                      \
        static il_target target;                                                                   \
        bool both = il_given.one_producer && il_given.one_consumer;                                \
        bool makes = il_given.create != NULL || il_given.create_with != NULL;                      \
        target = (il_target){                                                                      \
            .abi_version = IL_ABI_VERSION,                                                         \
            .struct_size = sizeof(il_target),                                                      \
            .library = il_given.library != NULL ? il_given.library : "",                           \
            .version = il_given.version != NULL ? il_given.version : "",                           \
            .model = il_given.model != NULL ? il_given.model : usual_model,                        \
            .operations = operations,                                                              \
            .thread_max = il_given.thread_max != 0 ? il_given.thread_max : both ? 2 : 0,           \
            .capacity = il_given.capacity,                                                         \
            .block_size = il_given.block_size,                                                     \
            .create = makes ? il_create : NULL,                                                    \
            .destroy = il_given.destroy != NULL ? il_destroy : NULL,                               \
            .enter = il_enter,                                                                     \
            .leave = il_leave,                                                                     \
            .call = interlap_calls,                                                                \
        };                                                                                         \
        OFFERS                                                                                     \
        return &target;                                                                            \
    }

#define IL_TARGET(T, OF, usual_model, ...)                                                         \
    IL_GIVEN(T, OF(IL_MEMBER, T), __VA_ARGS__)                                                     \
    static void interlap_calls(void *structure, void *local, il_call *c) {                         \
        T *it = structure;                                                                         \
        const int64_t *a = c->args;                                                                \
        int64_t *r = c->results;                                                                   \
        (void)local, (void)a;                                                                      \
        r[0] = IL_UNTOLD;                                                                          \
        il_is_under_way(c);                                                                        \
        switch (c->op) {                                                                           \
            OF(IL_CASE, T)                                                                         \
        default: c->status = IL_UNSUPPORTED;                                                       \
        }                                                                                          \
    }                                                                                              \
    IL_DESCRIBED(OF(IL_COUNTED, T), usual_model, OF(IL_OFFERED, T))

/* The methods of a structure of no family. */
#define IL_METHODS(T)                                                                              \
    struct {                                                                                       \
        const char *signature;                                                                     \
        void (*call)(T *, il_call *);                                                              \
        uint32_t role; /* of enum il_role */                                                       \
    } methods[IL_METHODS_MAX];
#define IL_LISTED                                                                                  \
    for (uint32_t at = 0; at < IL_METHODS_MAX && il_given.methods[at].signature != NULL; at++)     \
        operations[target.operation_count++] =                                                     \
            (il_operation){IL_METHOD + at, il_given.methods[at].role,                              \
                           il_given.methods[at].signature};
#define INTERLAP_OPERATIONS(T, ...)                                                                \
    IL_GIVEN(T, IL_METHODS(T), __VA_ARGS__)                                                        \
    static void interlap_calls(void *structure, void *local, il_call *c) {                         \
        (void)local;                                                                               \
        il_is_under_way(c);                                                                        \
        il_given.methods[c->op - IL_METHOD].call(structure, c);                                    \
    }                                                                                              \
    IL_DESCRIBED(IL_METHODS_MAX, "self", IL_LISTED)

#define INTERLAP_QUEUE(T, ...) IL_TARGET(T, IL_QUEUE_OF, "fifo", __VA_ARGS__)
#define INTERLAP_STACK(T, ...) IL_TARGET(T, IL_STACK_OF, "lifo", __VA_ARGS__)
#define INTERLAP_DEQUE(T, ...) IL_TARGET(T, IL_DEQUE_OF, "deque", __VA_ARGS__)
#define INTERLAP_SET(T, ...) IL_TARGET(T, IL_SET_OF, "set", __VA_ARGS__)
#define INTERLAP_RANGE_SET(T, ...) IL_TARGET(T, IL_RANGE_SET_OF, "range-set", __VA_ARGS__)
#define INTERLAP_MAP(T, ...) IL_TARGET(T, IL_MAP_OF, "map", __VA_ARGS__)
#define INTERLAP_REGISTER(T, ...) IL_TARGET(T, IL_REGISTER_OF, "register", __VA_ARGS__)
#define INTERLAP_PRIORITY_QUEUE(T, ...)                                                            \
    IL_TARGET(T, IL_PRIORITY_QUEUE_OF, "priority-queue", __VA_ARGS__)
#define INTERLAP_COUNTER(T, ...) IL_TARGET(T, IL_COUNTER_OF, "counter", __VA_ARGS__)
#define INTERLAP_LOG(T, ...) IL_TARGET(T, IL_LOG_OF, "log", __VA_ARGS__)
#define INTERLAP_KV(T, ...) IL_TARGET(T, IL_KV_OF, "kv", __VA_ARGS__)
#define INTERLAP_STORE(T, ...) IL_TARGET(T, IL_STORE_OF, "snapshot", __VA_ARGS__)

#endif
