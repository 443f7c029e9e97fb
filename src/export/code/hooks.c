// What code compiled with -fsanitize=thread calls at each access to memory, in place of
// ThreadSanitizer. Before the access, schedule.c says whose turn it is; without it nothing is done
// but the access.
#ifndef HAVE_TURNS
#define plain(at, size, act) ((void)(at))
#define atomic(at, size, act) ((void)(at))
#define waits(at, size, value, order) ((void)(order), 0)
#define is_own(at, size, value) (*(value) = 0, 0)
#define fence(order) ((void)(order))
#define newer_than(size, act) (-1)
#define value_behind(at, size, newer) ((void)(newer), (uint64_t)0)
#define store_behind(at, size, newer, value) ((void)(newer), (void)(value))
#define overwrite(at, size, value) ((void)(at))
#endif

#define PLAIN(N)                                                                                   \
    void __tsan_read##N(void *p) { plain(p, N, READ); }                                            \
    void __tsan_write##N(void *p) { plain(p, N, WRITE); }                                          \
    void __tsan_unaligned_read##N(void *p) { plain(p, N, READ); }                                  \
    void __tsan_unaligned_write##N(void *p) { plain(p, N, WRITE); }                                \
    void __tsan_volatile_read##N(void *p) { plain(p, N, READ); }                                   \
    void __tsan_volatile_write##N(void *p) { plain(p, N, WRITE); }                                 \
    void __tsan_unaligned_volatile_read##N(void *p) { plain(p, N, READ); }                         \
    void __tsan_unaligned_volatile_write##N(void *p) { plain(p, N, WRITE); }
PLAIN(1) PLAIN(2) PLAIN(4) PLAIN(8) PLAIN(16)
void __tsan_read_range(void *p, size_t size) { plain(p, size, READ); }
void __tsan_write_range(void *p, size_t size) { plain(p, size, WRITE); }
void __tsan_vptr_read(void **p) { plain(p, 8, READ); }
void __tsan_vptr_update(void **p, void *value) { (void)value, plain(p, 8, WRITE); }
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}

#define CHANGE(B, T, NAME, EXPRESSION)                                                             \
    T __tsan_atomic##B##_##NAME(volatile T *p, T value, int order) {                               \
        (void)order, atomic(p, sizeof(T), EXCHANGE);                                               \
        int newer = newer_than(sizeof(T), EXCHANGE);                                               \
        if (newer > 0) {                                                                           \
            T old = (T)value_behind(p, sizeof(T), newer);                                          \
            store_behind(p, sizeof(T), newer, (uint64_t)(T)(EXPRESSION));                          \
            return old;                                                                            \
        }                                                                                          \
        T old = LOAD_NOW(p);                                                                       \
        while (!SWAP_NOW(p, &old, (T)(EXPRESSION))) {}                                             \
        overwrite(p, sizeof(T), (uint64_t)old);                                                    \
        return old;                                                                                \
    }
#define SWAP_IF(B, T)                                                                              \
    static int swap_if_##B(volatile T *p, T *expected, T value) {                                  \
        T wanted = *expected;                                                                      \
        atomic(p, sizeof(T), SWAP);                                                                \
        int newer = newer_than(sizeof(T), SWAP);                                                   \
        if (newer > 0) *expected = (T)value_behind(p, sizeof(T), newer);                           \
        int is_made = newer > 0 ? *expected == wanted : newer < 0 && SWAP_NOW(p, expected, value); \
        if (is_made && newer > 0) store_behind(p, sizeof(T), newer, (uint64_t)value);              \
        if (is_made && newer < 0) overwrite(p, sizeof(T), (uint64_t)wanted);                       \
        return is_made;                                                                            \
    }
#define COMPARE(B, T, NAME)                                                                        \
    int __tsan_atomic##B##_compare_exchange_##NAME(volatile T *p, T *expected, T value, int order, \
                                                   int order_of_failure) {                         \
        (void)order, (void)order_of_failure;                                                       \
        return swap_if_##B(p, expected, value);                                                    \
    }
#define ATOMIC(B, T)                                                                               \
    CHANGE(B, T, exchange, value)                                                                  \
    CHANGE(B, T, fetch_add, old + value)                                                           \
    CHANGE(B, T, fetch_sub, old - value)                                                           \
    CHANGE(B, T, fetch_and, old &value)                                                            \
    CHANGE(B, T, fetch_or, old | value)                                                            \
    CHANGE(B, T, fetch_xor, old ^ value)                                                           \
    CHANGE(B, T, fetch_nand, ~(old & value))                                                       \
    SWAP_IF(B, T)                                                                                  \
    COMPARE(B, T, strong)                                                                          \
    COMPARE(B, T, weak)                                                                            \
    T __tsan_atomic##B##_compare_exchange_val(volatile T *p, T expected, T value, int order,       \
                                              int order_of_failure) {                              \
        (void)order, (void)order_of_failure, swap_if_##B(p, &expected, value);                     \
        return expected;                                                                           \
    }
#define UP_TO_8(B, T)                                                                              \
    ATOMIC(B, T)                                                                                   \
    T __tsan_atomic##B##_load(const volatile T *p, int order) {                                    \
        uint64_t value;                                                                            \
        (void)order, atomic(p, sizeof(T), LOAD);                                                   \
        int newer = newer_than(sizeof(T), LOAD);                                                   \
        if (newer > 0) return (T)value_behind(p, sizeof(T), newer);                                \
        return is_own(p, sizeof(T), &value) ? (T)value : LOAD_NOW(p);                              \
    }                                                                                              \
    void __tsan_atomic##B##_store(volatile T *p, T value, int order) {                             \
        atomic(p, sizeof(T), STORE);                                                               \
        int newer = newer_than(sizeof(T), STORE);                                                  \
        if (newer > 0) return store_behind(p, sizeof(T), newer, value);                            \
        if (waits(p, sizeof(T), value, order)) return;                                             \
        overwrite(p, sizeof(T), LOAD_NOW(p));                                                      \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }
#define LOAD_NOW(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define SWAP_NOW(p, expected, value)                                                               \
    __atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
UP_TO_8(8, uint8_t)
UP_TO_8(16, uint16_t)
UP_TO_8(32, uint32_t)
UP_TO_8(64, uint64_t)
#undef LOAD_NOW
#undef SWAP_NOW

typedef unsigned __int128 uint128;
static int swap16(volatile uint128 *p, uint128 *expected, uint128 value) {
    uint128 seen = __sync_val_compare_and_swap(p, *expected, value), wanted = *expected;
    return *expected = seen, seen == wanted;
}
#define LOAD_NOW(p) __sync_val_compare_and_swap((volatile uint128 *)(p), 0, 0)
#define SWAP_NOW swap16
ATOMIC(128, uint128)
uint128 __tsan_atomic128_load(const volatile uint128 *p, int order) {
    (void)order, atomic(p, 16, LOAD);
    return LOAD_NOW(p);
}
void __tsan_atomic128_store(volatile uint128 *p, uint128 value, int order) {
    __tsan_atomic128_exchange(p, value, order);
}
void __tsan_atomic_thread_fence(int order) {
    fence(order);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

#ifndef HAVE_TURNS
#undef plain
#undef atomic
#undef waits
#undef is_own
#undef fence
#undef newer_than
#undef value_behind
#undef store_behind
#undef overwrite
#endif
