/* The hooks that code compiled with -fsanitize=thread calls at each access. A hook reports the
 * access (hooks.rs) and then makes it: one thread runs at a time, so no other access can come in
 * between. This is C because Rust has no __builtin_return_address. Not instrumented itself.
 *
 * The interface is that of LLVM's compiler-rt (lib/tsan/rtl/tsan_interface.h and
 * tsan_interface_atomic.h); GCC calls the same functions. Memory orders are those of <stdatomic.h>.
 */
#include "hooks.h"

#include <errno.h>
#include <string.h>

/* The acts of il_made: as `interlap::trace::trail::Act::ALL`. */
enum { LOAD, STORE, EXCHANGE, SWAP, FAILED_SWAP, FENCE };
#define MADE(ACT, P, BEFORE, AFTER)                                                                \
    do {                                                                                           \
        if (UNLIKELY(il_shared.wants_made)) {                                                      \
            il_made(ACT, (uintptr_t)(P), sizeof *(P), (uint32_t)order, (uint64_t)(BEFORE),         \
                    (uint64_t)(AFTER), caller);                                                    \
        }                                                                                          \
    } while (0)

/* An atomic access, a volatile one, a fence is about to be made: scheduling points. */
void il_access(uintptr_t address, uint32_t size, uint32_t access, uint32_t order, uintptr_t caller);
void il_volatile(uintptr_t address, size_t size, uint32_t access, uintptr_t caller);
void il_fence(uint32_t order, uintptr_t caller);
/* Whether a store waits in its thread's buffer; if not, it is to be made. */
int il_buffer(uintptr_t address, uint32_t size, uint64_t value, int order, uintptr_t caller);
/* What a load of up to 8 bytes finds. */
uint64_t il_forwarded(uintptr_t address, uint32_t size);
/* A load of 16 bytes is about to be made. */
void il_load16(uintptr_t address);
/* The same in rounds where loads may read older stores (state/weak_memory.rs): a load; a store, and
 * whether memory keeps its value; what a read-modify-write reads, and then stores. */
uint64_t il_weak_load(uintptr_t address, uint32_t size, int order, uintptr_t caller);
int il_weak_store(uintptr_t address, uint32_t size, uint64_t value, int order, uintptr_t caller);
uint64_t il_weak_read(uintptr_t address, uint32_t size, int order, uintptr_t caller);
void il_weak_update(uintptr_t address, uint32_t size, uint64_t value, int order, uintptr_t caller);
/* A compare-exchange, whose orders are `order | failed << 8`; whether it was made. */
enum { MAY_FAIL = 1 << 16 };
int il_weak_compare(uintptr_t address, uint32_t size, uint64_t *expected, uint64_t value,
                    uint32_t orders, uintptr_t caller);
/* An access of 16 bytes was made, of what was there before. */
void il_weak_words(uintptr_t address, int writes, int order, const void *before, uintptr_t caller);
/* An atomic access that was made: what was there before and after (first 8 bytes). */
void il_made(uint32_t act, uintptr_t address, uint32_t size, uint32_t order, uint64_t before,
             uint64_t after, uintptr_t caller);

/* What has a memory order: as `interlap::core::memory_order::Ordered`. The order of an access. */
enum { OF_LOAD, OF_STORE, OF_UPDATE, OF_COMPARE, OF_FAILURE, OF_FENCE };
int il_order(uint32_t of, int written, uintptr_t caller);

static inline int order_of(uint32_t of, int written, uintptr_t caller) {
    int asks = il_shared.orders && il_shared.controls;
    return UNLIKELY(asks) ? il_order(of, written, caller) : written;
}

/* A conditional jump to the next instruction. rr switches threads only at conditional branches that
 * it counts: so it can at each access. rr counts the form of 6 bytes even on machines without
 * counters. */
static inline void countable(void) {
    __asm__ volatile(".byte 0x0f, 0x84, 0, 0, 0, 0");
}

static inline void volatile_access(void *at, size_t size, uint32_t access, uintptr_t caller) {
    if (!il_shared.controls) return countable();
    il_volatile((uintptr_t)at, size, access, caller);
    if (access == WRITE) il_shared.changed = 1;
}

/* ------------------------------------------------------------------------------ plain accesses */

#define PLAIN(N)                                                                                   \
    EXPORT void __tsan_read##N(void *p) { plain(p, N, READ, CALLER); }                             \
    EXPORT void __tsan_write##N(void *p) { plain(p, N, WRITE, CALLER); }                           \
    EXPORT void __tsan_read_write##N(void *p) { plain(p, N, WRITE, CALLER); }                      \
    EXPORT void __tsan_unaligned_read##N(void *p) { plain(p, N, READ, CALLER); }                   \
    EXPORT void __tsan_unaligned_write##N(void *p) { plain(p, N, WRITE, CALLER); }                 \
    EXPORT void __tsan_unaligned_read_write##N(void *p) { plain(p, N, WRITE, CALLER); }            \
    EXPORT void __tsan_volatile_read##N(void *p) { volatile_access(p, N, READ, CALLER); }          \
    EXPORT void __tsan_volatile_write##N(void *p) { volatile_access(p, N, WRITE, CALLER); }        \
    EXPORT void __tsan_unaligned_volatile_read##N(void *p) {                                       \
        volatile_access(p, N, READ, CALLER);                                                       \
    }                                                                                              \
    EXPORT void __tsan_unaligned_volatile_write##N(void *p) {                                      \
        volatile_access(p, N, WRITE, CALLER);                                                      \
    }
PLAIN(1) PLAIN(2) PLAIN(4) PLAIN(8) PLAIN(16)

EXPORT void __tsan_read_range(void *p, size_t size) { plain(p, size, READ, CALLER); }
EXPORT void __tsan_write_range(void *p, size_t size) { plain(p, size, WRITE, CALLER); }
EXPORT void __tsan_vptr_update(void **p, void *value) { (void)value, plain(p, 8, WRITE, CALLER); }
EXPORT void __tsan_vptr_read(void **p) { plain(p, 8, READ, CALLER); }
EXPORT void __tsan_func_entry(void *pc) { (void)pc; }
EXPORT void __tsan_func_exit(void) {}
EXPORT void __tsan_init(void) {}

EXPORT void *__tsan_memcpy(void *to, const void *from, size_t size) {
    plain((void *)from, size, READ, CALLER);
    plain(to, size, WRITE, CALLER);
    return memcpy(to, from, size);
}
EXPORT void *__tsan_memmove(void *to, const void *from, size_t size) {
    plain((void *)from, size, READ, CALLER);
    plain(to, size, WRITE, CALLER);
    return memmove(to, from, size);
}
EXPORT void *__tsan_memset(void *to, int value, size_t size) {
    plain(to, size, WRITE, CALLER);
    return memset(to, value, size);
}

/* Calls of memcpy, memmove and memset are linked to these (src/adapter/compile/command.rs): GCC has
 * no hooks for them. */
EXPORT void *__wrap_memcpy(void *, const void *, size_t) __attribute__((alias("__tsan_memcpy")));
EXPORT void *__wrap_memmove(void *, const void *, size_t) __attribute__((alias("__tsan_memmove")));
EXPORT void *__wrap_memset(void *, int, size_t) __attribute__((alias("__tsan_memset")));

/* ----------------------------------------------------------------------------- atomic accesses */

/* Each has two ways. Most often nobody is to be asked or told: then the point is counted here, and
 * an access that is not atomic does the same as one that is, as no other thread can run. The other
 * way reports the access, and is atomic: outside of control (constructors that run when the target
 * is loaded, the rr engine) other threads may run, as may a process that was forked. There seq_cst
 * is as strong as any order. */

/* Lets a scheduling point pass if nobody is to be asked or told, as points.rs does. Whether it
 * did. */
static inline int passes(volatile const void *at, size_t size, uintptr_t caller) {
    if (!il_shared.free || !il_shared.controls) return 0;
    if (il_shared.wants_atomic | il_shared.asks_at_each | il_shared.holds_back) return 0;
    if (is_doubtful((uintptr_t)at, size)) return 0;
    il_shared.free--;
    il_shared.step++;
    il_shared.atomics++;
    il_shared.place = caller;
    if (il_shared.changed) {
        il_shared.changed = 0;
        il_shared.idle_base = il_shared.free;
        il_shared.changed_at = il_shared.step;
    }
    return 1;
}
#define PASSES(P) __builtin_expect(passes(P, sizeof *(P), CALLER), 1)

static void report(volatile const void *at, uint32_t size, uint32_t access, int order,
                   uintptr_t caller) {
    if (!il_shared.controls) return countable();
    il_access((uintptr_t)at, size, access, (uint32_t)order, caller);
}

/* Whether stores of the code that runs may wait in a store buffer; whether some do. Code outside of
 * control has none: a process that was forked, or what runs when this one ends. */
static inline int may_wait(void) {
    return il_shared.buffers && il_shared.controls;
}
static inline int some_wait(void) {
    return il_shared.holds_back && il_shared.controls;
}

/* Whether loads of the code that runs may read older stores. */
static inline int is_weak(void) {
    return il_shared.weak && il_shared.controls;
}

#define RMW(B, T, NAME, EXPRESSION)                                                                \
    static SLOW T NAME##_##B(volatile T *p, T value, int order, uintptr_t caller) {                \
        order = order_of(OF_UPDATE, order, caller);                                                \
        report(p, sizeof(T), UPDATE, order, caller);                                               \
        T old, new;                                                                                \
        if (is_weak()) {                                                                           \
            old = (T)il_weak_read((uintptr_t)p, sizeof(T), order, caller);                         \
            new = (T)(EXPRESSION);                                                                 \
            il_weak_update((uintptr_t)p, sizeof(T), new, order, caller);                           \
            MADE(EXCHANGE, p, old, new);                                                           \
            return old;                                                                            \
        }                                                                                          \
        old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                \
        do new = (T)(EXPRESSION);                                                                  \
        while (!__atomic_compare_exchange_n(p, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
        if (new != old) il_shared.changed = 1;                                                     \
        MADE(EXCHANGE, p, old, new);                                                               \
        return old;                                                                                \
    }                                                                                              \
    EXPORT T __tsan_atomic##B##_##NAME(volatile T *p, T value, int order) {                        \
        if (!PASSES(p)) return NAME##_##B(p, value, order, CALLER);                                \
        T old = *p, new = (T)(EXPRESSION);                                                         \
        if (new != old) il_shared.changed = 1;                                                     \
        *p = new;                                                                                  \
        return old;                                                                                \
    }
#define MAY_FAIL_strong 0
#define MAY_FAIL_weak MAY_FAIL
#define EXCHANGE_IF(B, T, STRENGTH)                                                                \
    EXPORT int __tsan_atomic##B##_compare_exchange_##STRENGTH(volatile T *p, T *expected, T value, \
                                                              int order, int fail_order) {         \
        int may_fail = MAY_FAIL_##STRENGTH;                                                                 \
        return exchange_if_##B(p, expected, value, order, fail_order, may_fail, CALLER);           \
    }
#define ATOMIC(B, T)                                                                               \
    static SLOW T load_##B(const volatile T *p, int order, uintptr_t caller) {                     \
        order = order_of(OF_LOAD, order, caller);                                                  \
        report(p, sizeof(T), READ, order, caller);                                                 \
        T value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                            \
        if (some_wait()) value = (T)il_forwarded((uintptr_t)p, sizeof(T));                         \
        if (is_weak()) value = (T)il_weak_load((uintptr_t)p, sizeof(T), order, caller);            \
        MADE(LOAD, p, value, value);                                                               \
        return value;                                                                              \
    }                                                                                              \
    EXPORT T __tsan_atomic##B##_load(const volatile T *p, int order) {                             \
        return PASSES(p) ? *p : load_##B(p, order, CALLER);                                        \
    }                                                                                              \
    static SLOW void store_##B(volatile T *p, T value, int order, uintptr_t caller) {              \
        order = order_of(OF_STORE, order, caller);                                                 \
        report(p, sizeof(T), WRITE, order, caller);                                                \
        if (may_wait() && il_buffer((uintptr_t)p, sizeof(T), value, order, caller)) return;        \
        if (is_weak() && il_weak_store((uintptr_t)p, sizeof(T), value, order, caller)) return;     \
        T before = __atomic_load_n(p, __ATOMIC_RELAXED);                                           \
        if (before != value) il_shared.changed = 1;                                                \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
        MADE(STORE, p, before, value);                                                             \
    }                                                                                              \
    EXPORT void __tsan_atomic##B##_store(volatile T *p, T value, int order) {                      \
        if (il_shared.buffers || !PASSES(p)) return store_##B(p, value, order, CALLER);            \
        if (*p != value) il_shared.changed = 1;                                                    \
        *p = value;                                                                                \
    }                                                                                              \
    RMW(B, T, exchange, value)                                                                     \
    RMW(B, T, fetch_add, old + value)                                                              \
    RMW(B, T, fetch_sub, old - value)                                                              \
    RMW(B, T, fetch_and, old & value)                                                              \
    RMW(B, T, fetch_or, old | value)                                                               \
    RMW(B, T, fetch_xor, old ^ value)                                                              \
    RMW(B, T, fetch_nand, ~(old & value))                                                          \
    static SLOW int reported_exchange_if_##B(volatile T *p, T *expected, T value, int order,       \
                                             int fail_order, int may_fail, uintptr_t caller) {     \
        order = order_of(OF_COMPARE, order, caller);                                               \
        fail_order = order_of(OF_FAILURE, fail_order, caller);                                     \
        report(p, sizeof(T), UPDATE, order, caller);                                               \
        T before = *expected;                                                                      \
        if (is_weak()) {                                                                           \
            uint64_t seen = before;                                                                \
            uint32_t orders = (uint32_t)(order | fail_order << 8 | may_fail);                      \
            int done =                                                                             \
                il_weak_compare((uintptr_t)p, sizeof(T), &seen, value, orders, caller);            \
            *expected = (T)seen;                                                                   \
            MADE(done ? SWAP : FAILED_SWAP, p, seen, done ? value : before);                       \
            return done;                                                                           \
        }                                                                                          \
        int done = __atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST,            \
                                               __ATOMIC_SEQ_CST);                                  \
        if (done && before != value) il_shared.changed = 1;                                        \
        if (!done) order = fail_order;                                                             \
        MADE(done ? SWAP : FAILED_SWAP, p, *expected, done ? value : before);                      \
        return done;                                                                               \
    }                                                                                              \
    static inline int exchange_if_##B(volatile T *p, T *expected, T value, int order,              \
                                      int fail_order, int may_fail, uintptr_t caller) {            \
        if (!__builtin_expect(passes(p, sizeof(T), caller), 1)) {                                  \
            return reported_exchange_if_##B(p, expected, value, order, fail_order, may_fail,       \
                                            caller);                                               \
        }                                                                                          \
        T seen = *p;                                                                               \
        if (seen != *expected) {                                                                   \
            *expected = seen;                                                                      \
            return 0;                                                                              \
        }                                                                                          \
        if (seen != value) il_shared.changed = 1;                                                  \
        *p = value;                                                                                \
        return 1;                                                                                  \
    }                                                                                              \
    EXCHANGE_IF(B, T, strong)                                                                      \
    EXCHANGE_IF(B, T, weak)                                                                        \
    EXPORT T __tsan_atomic##B##_compare_exchange_val(volatile T *p, T expected, T value,           \
                                                     int order, int fail_order) {                  \
        exchange_if_##B(p, &expected, value, order, fail_order, 0, CALLER);                        \
        return expected;                                                                           \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

typedef unsigned __int128 uint128;

/* cmpxchg16b, the only atomic instruction for 16 bytes. It needs an alignment of 16, as the types
 * have. */
static inline uint128 exchange16(volatile uint128 *p, uint128 expected, uint128 value) {
    return __sync_val_compare_and_swap(p, expected, value);
}
static inline uint128 load16(const volatile uint128 *p) {
    return exchange16((volatile uint128 *)p, 0, 0);
}

#define RMW16(NAME, EXPRESSION)                                                                    \
    EXPORT uint128 __tsan_atomic128_##NAME(volatile uint128 *p, uint128 value, int order) {        \
        uintptr_t caller = CALLER;                                                                 \
        order = order_of(OF_UPDATE, order, caller);                                                \
        report(p, 16, UPDATE, order, caller);                                                      \
        for (uint128 old = load16(p);;) {                                                          \
            uint128 new = (EXPRESSION), seen = exchange16(p, old, new);                            \
            if (seen == old) {                                                                     \
                if (new != old) il_shared.changed = 1;                                             \
                if (is_weak()) il_weak_words((uintptr_t)p, 1, order, &old, caller);                \
                MADE(EXCHANGE, p, old, new);                                                       \
                return old;                                                                        \
            }                                                                                      \
            old = seen;                                                                            \
        }                                                                                          \
    }
RMW16(exchange, value)
RMW16(fetch_add, old + value)
RMW16(fetch_sub, old - value)
RMW16(fetch_and, old & value)
RMW16(fetch_or, old | value)
RMW16(fetch_xor, old ^ value)
RMW16(fetch_nand, ~(old & value))

EXPORT uint128 __tsan_atomic128_load(const volatile uint128 *p, int order) {
    uintptr_t caller = CALLER;
    order = order_of(OF_LOAD, order, caller);
    report(p, 16, READ, order, caller);
    if (some_wait()) il_load16((uintptr_t)p);
    uint128 value = load16(p);
    if (is_weak()) il_weak_words((uintptr_t)p, 0, order, &value, caller);
    MADE(LOAD, p, value, value);
    return value;
}
EXPORT void __tsan_atomic128_store(volatile uint128 *p, uint128 value, int order) {
    __tsan_atomic128_exchange(p, value, order);
}
static inline uint128 exchange16_counted(volatile uint128 *p, uint128 expected, uint128 value,
                                         int order, int fail_order, uintptr_t caller) {
    order = order_of(OF_COMPARE, order, caller);
    fail_order = order_of(OF_FAILURE, fail_order, caller);
    report(p, 16, UPDATE, order, caller);
    uint128 seen = exchange16(p, expected, value);
    if (seen == expected && expected != value) il_shared.changed = 1;
    if (is_weak()) {
        int done = seen == expected;
        il_weak_words((uintptr_t)p, done, done ? order : fail_order, &seen, caller);
    }
    if (UNLIKELY(il_shared.wants_made)) {
        int done = seen == expected;
        il_made(done ? SWAP : FAILED_SWAP, (uintptr_t)p, 16, (uint32_t)(done ? order : fail_order),
                (uint64_t)seen, (uint64_t)(done ? value : expected), caller);
    }
    return seen;
}
EXPORT int __tsan_atomic128_compare_exchange_strong(volatile uint128 *p, uint128 *expected,
                                                    uint128 value, int order, int fail_order) {
    uint128 wanted = *expected;
    *expected = exchange16_counted(p, wanted, value, order, fail_order, CALLER);
    return *expected == wanted;
}
EXPORT int __tsan_atomic128_compare_exchange_weak(volatile uint128 *p, uint128 *expected,
                                                  uint128 value, int order, int fail_order) {
    uint128 wanted = *expected;
    *expected = exchange16_counted(p, wanted, value, order, fail_order, CALLER);
    return *expected == wanted;
}
EXPORT uint128 __tsan_atomic128_compare_exchange_val(volatile uint128 *p, uint128 expected,
                                                     uint128 value, int order, int fail_order) {
    return exchange16_counted(p, expected, value, order, fail_order, CALLER);
}

EXPORT void __tsan_atomic_thread_fence(int order) {
    order = order_of(OF_FENCE, order, CALLER);
    if (il_shared.controls) il_fence((uint32_t)order, CALLER);
    if (UNLIKELY(il_shared.wants_made)) il_made(FENCE, 0, 0, (uint32_t)order, 0, 0, CALLER);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
EXPORT void __tsan_atomic_signal_fence(int order) { (void)order; }
