/*
 * interlap.h: the contract between interlap and a target.
 *
 * A target is a shared library made of one source file, the adapter. It exports one function,
 * `interlap_target`, which returns a description of a concurrent structure and the functions that
 * drive it. interlap compiles the adapter itself (`interlap fuzz my_queue.cpp`), creates the
 * structure, calls it from many threads, takes a timebox (start and end stamp) around every call,
 * and decides whether some order of the calls explains every answer under the target's model.
 *
 * From C++, include interlap.hpp instead: a class with the right methods is then a target. From C,
 * include interlap_c.h: a macro makes a target of the right functions.
 *
 * The life of a structure, called a round:
 *
 *     create(config)                                    one thread
 *       enter(s, 0)  enter(s, 1)  ...                   on each thread, before its first call
 *       call(s, local, call) ...                        on all threads at once
 *       leave(s, local) ...                             on each thread, after its last call
 *       enter(s, threads), call ..., leave              the drain: one thread takes what is left
 *     destroy(s)                                        one thread
 *
 * Everything below is plain C11. Fields marked [in] are set by interlap, [out] by the adapter.
 */
#ifndef INTERLAP_H
#define INTERLAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a structure below changes. A target built for another version is refused. */
#define IL_ABI_VERSION 2u

/* Fewest result values a call has room for. A call has at least as many as it asks for. */
#define IL_RESULT_ROOM 64u

/*
 * Operations. Arguments and results are 64-bit integers; an adapter for a structure of strings
 * maps them. "Status" lists the answers an operation may give; any other is an adapter error.
 *
 *   operation                arguments          status: results
 *   -- queue
 *   IL_ENQUEUE               value              ok | full
 *   IL_DEQUEUE               -                  ok: value | empty
 *   IL_ENQUEUE_BULK          value...           ok | full (none added) | ok: n (the first n added)
 *   IL_DEQUEUE_BULK          most               ok: value... | empty (says nothing if most is 0) |
 *                                               failed (fewer than `most` are inside)
 *   Bulk calls may be of 0 elements: no value to add, or `most` is 0.
 *   -- stack
 *   IL_PUSH                  value              ok | full
 *   IL_POP                   -                  ok: value | empty
 *   -- deque: one owner at the bottom, thieves at the top
 *   IL_DEQUE_PUSH            value              ok | full                (owner)
 *   IL_DEQUE_TAKE            -                  ok: value | empty        (owner)
 *   IL_DEQUE_STEAL           -                  ok: value | empty        (thieves)
 *   -- queue, stack, deque, priority queue: IL_QUEUE_SIZE, IL_STACK_SIZE, ...
 *   ..._SIZE                 -                  ok: how many values are inside
 *   ..._EMPTY                -                  ok (none) | failed (some)
 *   -- set
 *   IL_SET_INSERT            key                ok (was absent) | failed (was present)
 *   IL_SET_REMOVE            key                ok (was present) | failed (was absent)
 *   IL_SET_CONTAINS          key                ok (present) | failed (absent)
 *   the rest is for the model range-set; keys are ordered as numbers, ranges include both ends:
 *   IL_SET_RANGE_COUNT       low, high          ok: how many keys lie in the range
 *   IL_SET_RANK              key                ok: how many keys are below this one
 *   IL_SET_SIZE              -                  ok: how many keys there are
 *   IL_SET_SELECT            n                  ok: the key above n others | failed (none is)
 *   IL_SET_RANGE_LIST        low, high          ok: the keys in the range, the lowest first
 *   -- map
 *   IL_MAP_GET               key                ok: value | failed (absent)
 *   IL_MAP_PUT               key, value         ok | ok: old value | failed (was absent, now put)
 *   IL_MAP_INSERT_IF_ABSENT  key, value         ok | failed (present) | failed: value present
 *   IL_MAP_REMOVE            key                ok | ok: old value | failed (absent)
 *   IL_MAP_COMPARE_EXCHANGE  key, old, new      ok | failed | failed: value present
 *   -- register
 *   IL_REGISTER_READ         -                  ok: value
 *   IL_REGISTER_WRITE        value              ok | ok: old value
 *   IL_REGISTER_COMPARE_EXCHANGE  old, new      ok | failed | failed: value present
 *   -- priority queue: the smallest value is the first to leave
 *   IL_PRIORITY_INSERT       value              ok | full
 *   IL_PRIORITY_POLL         -                  ok: value (the smallest inside) | empty
 *   -- counter
 *   IL_COUNTER_ADD           amount             ok | ok: value before
 *   IL_COUNTER_READ          -                  ok: value
 *   -- log: records are appended, each at the next position; the first is 0
 *   IL_LOG_APPEND            value              ok: position | failed (nothing was appended)
 *   IL_LOG_READ              position           ok: value | empty (nothing there yet)
 *   IL_LOG_CHECK_TAIL        -                  ok: how many records there are
 *
 *   -- kv: a string under each key; a string is the numbers it was put together from
 *   IL_KV_GET                key                ok: string... (no number: the empty string)
 *   IL_KV_PUT                key, string...     ok
 *   IL_KV_APPEND             key, string...     ok
 *   -- store: transactions, one at a time on each thread
 *   IL_STORE_BEGIN           -                  ok | ok: its read timestamp
 *   IL_STORE_READ            key                ok: value | failed (absent)
 *   IL_STORE_WRITE           key, value         ok | failed (refused; an abort follows)
 *   IL_STORE_REMOVE          key                ok | empty (was absent) | failed (refused, too)
 *   IL_STORE_COMMIT          -                  ok | ok: commit timestamp | failed (rolled back)
 *   IL_STORE_ABORT           -                  ok
 *   A thread may leave with a transaction under way, which is then to be aborted. Only a commit
 *   may answer unknown. Timestamps, where they are given, are judged (docs/histories.md).
 *
 *   -- custom: methods of any meaning, each with a signature (see il_operation)
 *   IL_METHOD + n            words...           ok: words... | failed: the words of a string, the
 *                                               type of the exception that it threw
 *
 * A register and a counter hold 0 at first; everything else is empty at first, also a string.
 */
enum il_op {
    IL_ENQUEUE = 0x10,
    IL_DEQUEUE = 0x11,
    IL_ENQUEUE_BULK = 0x12,
    IL_DEQUEUE_BULK = 0x13,
    IL_QUEUE_SIZE = 0x14,
    IL_QUEUE_EMPTY = 0x15,
    IL_PUSH = 0x20,
    IL_POP = 0x21,
    IL_STACK_SIZE = 0x22,
    IL_STACK_EMPTY = 0x23,
    IL_DEQUE_PUSH = 0x30,
    IL_DEQUE_TAKE = 0x31,
    IL_DEQUE_STEAL = 0x32,
    IL_DEQUE_SIZE = 0x33,
    IL_DEQUE_EMPTY = 0x34,
    IL_SET_INSERT = 0x40,
    IL_SET_REMOVE = 0x41,
    IL_SET_CONTAINS = 0x42,
    IL_SET_RANGE_COUNT = 0x43,
    IL_SET_RANK = 0x44,
    IL_SET_SIZE = 0x45,
    IL_SET_SELECT = 0x46,
    IL_SET_RANGE_LIST = 0x47,
    IL_MAP_GET = 0x50,
    IL_MAP_PUT = 0x51,
    IL_MAP_INSERT_IF_ABSENT = 0x52,
    IL_MAP_REMOVE = 0x53,
    IL_MAP_COMPARE_EXCHANGE = 0x54,
    IL_REGISTER_READ = 0x60,
    IL_REGISTER_WRITE = 0x61,
    IL_REGISTER_COMPARE_EXCHANGE = 0x62,
    IL_PRIORITY_INSERT = 0x70,
    IL_PRIORITY_POLL = 0x71,
    IL_PRIORITY_SIZE = 0x72,
    IL_PRIORITY_EMPTY = 0x73,
    IL_COUNTER_ADD = 0x80,
    IL_COUNTER_READ = 0x81,
    IL_LOG_APPEND = 0x90,
    IL_LOG_READ = 0x91,
    IL_LOG_CHECK_TAIL = 0x92,
    IL_KV_GET = 0xa0,
    IL_KV_PUT = 0xa1,
    IL_KV_APPEND = 0xa2,
    IL_STORE_BEGIN = 0xb0,
    IL_STORE_READ = 0xb1,
    IL_STORE_WRITE = 0xb2,
    IL_STORE_REMOVE = 0xb3,
    IL_STORE_COMMIT = 0xb4,
    IL_STORE_ABORT = 0xb5
};

/* The code of the first method that a target lists; the others follow in the order of its list. */
#define IL_METHOD 0xc0u
/* Most methods of a target. */
#define IL_METHODS_MAX 32u

/* What a call answered. */
enum il_status {
    IL_OK = 0,          /* done, or true */
    IL_EMPTY = 1,       /* nothing to take */
    IL_FULL = 2,        /* no room; nothing was added */
    IL_FAILED = 3,      /* had no effect, or false; of a bulk removal: fewer are inside */
    IL_UNKNOWN = 4,     /* may have happened, may still happen, or not (a timeout, a lost commit) */
    IL_UNSUPPORTED = 5, /* did nothing and will not be recorded: interlap draws another call */
    IL_DONE = 6,        /* a set's insert or remove, a map's remove: the key is in, or out, now; it
                           does not say whether it was so before */
    IL_WAITS = 7        /* of a sequential model alone: did nothing, because the call waits for
                           another; it is made again after that */
};

/* Which threads may make a call. A round has threads 0, 1, 2, ... */
enum il_role {
    IL_ANY_THREAD = 0,
    IL_FIRST_THREAD = 1,   /* thread 0 alone: the one producer, consumer or owner */
    IL_OTHER_THREADS = 2   /* every thread but 0 */
};

struct il_call;

/* Services of interlap. Call them through il_box_open, il_box_close and il_error below. */
typedef struct il_host {
    void (*box_open)(struct il_call *call);
    void (*box_close)(struct il_call *call);
    void (*error)(const char *message);
} il_host;

/* One call of one operation. */
typedef struct il_call {
    uint32_t op;            /* [in]  an il_op */
    uint32_t status;        /* [out] an il_status; IL_OK on entry */
    const int64_t *args;    /* [in]  arg_count values */
    int64_t *results;       /* [out] room for result_room values */
    uint32_t arg_count;     /* [in]  */
    uint32_t result_room;   /* [in]  at least IL_RESULT_ROOM */
    uint32_t result_count;  /* [out] values written to results; 0 on entry, but of a model */
    uint32_t thread;        /* [in]  the calling thread, 0 based */
    const il_host *host;    /* [in]  */
    uint64_t start;         /* interlap's own: the stamps of the timebox */
    uint64_t end;
} il_call;

/* What a structure is created with. */
typedef struct il_config {
    const il_host *host;    /* [in] for il_error */
    const char *directory;  /* [in] an empty directory of this process; deleted at its end */
    uint64_t seed;          /* [in] differs from round to round */
    uint32_t threads;       /* [in] threads 0 .. threads-1 will call; thread `threads` drains */
    uint32_t round;         /* [in] differs between all structures of one process */
    uint32_t model;         /* [in] 1: make the sequential model instead (il_target.has_model) */
} il_config;

/*
 * An operation a target offers, and who may call it.
 *
 * A method has a signature: its name, the types of its arguments, the type of its result:
 *
 *     "acquire() -> optional<int>"      "put(string, int) -> bool"      "close() -> void"
 *
 * Arguments and results are words of 64 bits, one value after the other:
 *
 *     void                    no word
 *     bool                    0 or 1
 *     int, uint               the number
 *     string                  how many bytes; these, eight a word, the first is the lowest
 *     optional<T>             0, or 1 and the value
 *     list<T>, set<T>         how many elements; these (of a set in an order of its own)
 *     map<K, V>               how many pairs; a key and a value each
 *     tuple<T, ...>           its elements
 *     record<name: T, ...>    its members
 *     variant<T, ...>         the number of the choice, from 0; its value
 * Behind the type of an argument: few, answered, distinct or 1..64, from where its numbers are
 * drawn (INTERLAP_METHOD in interlap_operations.hpp says what they mean). In the end: or false, the
 * answer of a call that fails spuriously.
 */
typedef struct il_operation {
    uint32_t op;            /* an il_op, or IL_METHOD + n */
    uint32_t role;          /* an il_role */
    const char *signature;  /* of a method; of another operation NULL, or, where a target lists its
                               methods, the name of the one that does it */
} il_operation;

/* The description of a target. Strings are UTF-8 and live as long as the library. */
typedef struct il_target {
    uint32_t abi_version;   /* IL_ABI_VERSION */
    uint32_t struct_size;   /* sizeof(il_target) */
    const char *library;    /* what is tested: "moodycamel::ConcurrentQueue" */
    const char *version;    /* its version, or "" */
    const char *model;      /* the default model: "fifo", "fifo-per-producer:empty=count", ... */
    const il_operation *operations;
    uint32_t operation_count;
    uint32_t thread_max;    /* most threads that may call at once; 0: any number */
    uint32_t capacity;      /* how many values fit; 0: no bound */
    uint32_t block_size;    /* a size at which behaviour changes (block, segment, chunk); 0: none */
    uint32_t has_model;     /* 1: the library has a sequential model for the model "class"; else 0.
                               Its calls come one at a time. Each has the answer of the structure
                               in results and result_count on entry, which it may read; it answers
                               what is right, or IL_UNSUPPORTED if that answer is wrong, or
                               IL_WAITS. */

    /* Returns the structure, or NULL after il_error. */
    void *(*create)(const il_config *config);
    void (*destroy)(void *structure);

    /* Optional (NULL). What enter returns (a token, a session, or NULL) is passed to that
       thread's calls as `local`. */
    void *(*enter)(void *structure, uint32_t thread);
    void (*leave)(void *structure, void *local);

    /* Does call->op, sets status, results and result_count. Must not throw. */
    void (*call)(void *structure, void *local, il_call *call);
} il_target;

/* The one symbol a target exports. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const il_target *interlap_target(void);

/*
 * Narrowing the timebox. The box must contain the instant at which the operation takes effect; a
 * box wider than needed only hides bugs, a narrower one accuses the innocent.
 *
 * il_box_open:  what came before in this call (taking a session, retrying after a conflict) had no
 *               effect; the box opens now.
 * il_box_close: the operation has taken effect; what follows in this call is not part of it.
 */
static inline void il_box_open(il_call *call) { call->host->box_open(call); }
static inline void il_box_close(il_call *call) { call->host->box_close(call); }

/* The adapter cannot go on (no disk space, wrong library version): ends the run with this message.
   Does not return. */
static inline void il_error(const il_host *host, const char *message) { host->error(message); }

#ifdef __cplusplus
}
#endif
#endif
