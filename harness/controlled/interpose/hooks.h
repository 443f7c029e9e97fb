/* What the hooks in C have in common: what the engine shares with them, and how plain accesses of
 * the target's memory are reported. `caller` is the return address into the target's code. */
#ifndef INTERLAP_HOOKS_H
#define INTERLAP_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
/* Not exported, so accessed without the global offset table. */
#define HIDDEN __attribute__((visibility("hidden")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* The rare way of a hook: apart, so that the usual one saves no registers. */
#define SLOW __attribute__((noinline, unused))
#define CALLER ((uintptr_t)__builtin_return_address(0))

/* UPDATE: an atomic access that reads and writes. */
enum { READ = 1, WRITE = 2, UPDATE = 3 };

/* What the engine shares with the code in C (core/shared.rs, which says what each is). */
struct il_shared {
    uint64_t free, step, idle_base, changed_at, atomics;
    uintptr_t place;
    uint8_t controls, allocates, changed, asks_at_each;
    uint8_t wants_plain, wants_atomic, wants_made, buffers, holds_back, weak, orders;
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct il_shared, orders) == 58, "as in core/shared.rs");
extern struct il_shared il_shared HIDDEN;

/* The arena, and the state of each 16 bytes of it: 1 is allocated, 0x10 + n the first n of them (see
 * core/layout.rs and state/heap.rs). */
#define ARENA UINT64_C(0x100000000000)
#define ARENA_SIZE UINT64_C(0x40000000)
#define SHADOW ((const uint8_t *)UINT64_C(0x180000000000))
#define ALLOCATED 1
#define PARTLY 0x10

/* A plain access that is about to be made. */
void il_plain(uintptr_t address, size_t size, uint32_t access, uintptr_t caller);
void il_bad_access(uintptr_t address, uint32_t size, uint32_t access, uintptr_t caller);

static inline int is_bad_byte(uint64_t offset) {
    uint8_t state = SHADOW[offset >> 4];
    if (__builtin_expect(state == ALLOCATED, 1)) return 0;
    return !(state & PARTLY) || (offset & 15) >= (state & 15u);
}

/* Whether it is memory of the arena that is not known to be good at the first look. */
static inline int is_doubtful(uintptr_t address, size_t size) {
    uint64_t offset = address - ARENA;
    /* Outside of control there may be no shadow: rr may map memory at its addresses. */
    if (offset >= ARENA_SIZE || !il_shared.controls) return 0;
    return UNLIKELY((offset & 15) + size > 16 || SHADOW[offset >> 4] != ALLOCATED);
}

/* A plain access that a listener wants, or of doubtful memory. */
static SLOW void look(uintptr_t address, size_t size, uint32_t access, uintptr_t caller) {
    int is_wanted = il_shared.wants_plain || il_shared.holds_back;
    if (is_wanted && il_shared.controls) il_plain(address, size, access, caller);
    if (!size || !is_doubtful(address, size)) return;
    uint64_t offset = address - ARENA;
    if (is_bad_byte(offset) || is_bad_byte(offset + size - 1)) {
        il_bad_access(address, (uint32_t)size, access, caller);
    }
}

/* The hottest function: most calls find no listener and good memory, and return. */
static inline void plain(void *at, size_t size, uint32_t access, uintptr_t caller) {
    uintptr_t address = (uintptr_t)at;
    if (UNLIKELY(il_shared.wants_plain | il_shared.holds_back) || is_doubtful(address, size)) {
        look(address, size, access, caller);
    }
}

#endif
