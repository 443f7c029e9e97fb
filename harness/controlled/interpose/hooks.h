/* Reports plain accesses of the target's memory, for the hooks in C. `caller` is the return address
 * into the target's code. */
#ifndef INTERLAP_HOOKS_H
#define INTERLAP_HOOKS_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
/* Not exported, so accessed without the global offset table. */
#define HIDDEN __attribute__((visibility("hidden")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CALLER ((uintptr_t)__builtin_return_address(0))

/* UPDATE: an atomic access that reads and writes. */
enum { READ = 1, WRITE = 2, UPDATE = 3 };

/* Owned by the engine: whether the target's code runs under control; whether plain accesses are
 * to be reported (accesses.rs). */
extern uint8_t il_controls HIDDEN;
extern uint8_t il_wants_plain HIDDEN;

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

static inline int is_bad(uintptr_t address, size_t size) {
    uint64_t offset = address - ARENA;
    /* Outside of control there may be no shadow: rr may map memory at its addresses. */
    if (offset >= ARENA_SIZE || !il_controls) return 0;
    int in_one = (offset & 15) + size <= 16;
    if (__builtin_expect(in_one && SHADOW[offset >> 4] == ALLOCATED, 1)) return 0;
    return is_bad_byte(offset) || is_bad_byte(offset + size - 1);
}

/* The hottest function: most calls find no listener and good memory, and return. */
static inline void plain(void *at, size_t size, uint32_t access, uintptr_t caller) {
    uintptr_t address = (uintptr_t)at;
    if (UNLIKELY(il_wants_plain) && il_controls) il_plain(address, size, access, caller);
    if (UNLIKELY(size && is_bad(address, size))) {
        il_bad_access(address, (uint32_t)size, access, caller);
    }
}

#endif
