/* malloc, operator new and their kin. Under control the target's blocks come from the arena
 * (`heap.rs`), and each call is a scheduling point; all other calls go to the C library. operator
 * new and delete are here so that a report names the target's line, not the C++ library's. Not
 * instrumented. */
#include "hooks.h"

#include <errno.h>
#include <string.h>

/* Start and end of the code of the C library, the loader and the compiler's library. */
extern const uintptr_t il_system_code[6];
void *il_allocate(size_t size, size_t alignment, uintptr_t caller);
int il_release(void *block, uintptr_t caller); /* 0: not a block of the arena */
size_t il_block_size(const void *block);       /* 0: not a block of the arena */
void *il_cxx_new_failed(size_t size);          /* throws std::bad_alloc */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static inline int is_of_system(uintptr_t caller) {
    return caller - il_system_code[0] < il_system_code[1] - il_system_code[0]
           || caller - il_system_code[2] < il_system_code[3] - il_system_code[2]
           || caller - il_system_code[4] < il_system_code[5] - il_system_code[4];
}

static inline int takes_from_arena(uintptr_t caller) {
    return il_shared.allocates && (il_shared.allocates > 1 || !is_of_system(caller));
}

/* A thread under control is in the C library's allocator, and may hold its lock. Other threads do
 * not write this. */
extern uint8_t il_in_libc;
#define IN_LIBC(CALL)                                                                              \
    ({                                                                                             \
        uint8_t controlled = il_shared.allocates != 0;                                                    \
        if (controlled) il_in_libc = 1;                                                            \
        __typeof__(CALL) answer = CALL;                                                            \
        if (controlled) il_in_libc = 0;                                                            \
        answer;                                                                                    \
    })

static inline void *allocate(size_t size, size_t alignment, uintptr_t caller) {
    if (!takes_from_arena(caller)) {
        return IN_LIBC(alignment > 16 ? __libc_memalign(alignment, size) : __libc_malloc(size));
    }
    void *block = il_allocate(size, alignment, caller);
    if (!block) errno = ENOMEM;
    return block;
}

static inline void release(void *block, uintptr_t caller) {
    if (block && !il_release(block, caller)) IN_LIBC((__libc_free(block), 0));
}

/* Memory of interlap_operations.hpp, which is none of the target's. */
EXPORT void *il_own_allocate(size_t size) { return IN_LIBC(__libc_malloc(size)); }
EXPORT void il_own_release(void *block) { IN_LIBC((__libc_free(block), 0)); }

EXPORT void *malloc(size_t size) { return allocate(size, 16, CALLER); }
EXPORT void free(void *block) { release(block, CALLER); }

EXPORT void *calloc(size_t count, size_t size) {
    if (!takes_from_arena(CALLER)) return IN_LIBC(__libc_calloc(count, size));
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = allocate(bytes, 16, CALLER);
    return block ? memset(block, 0, bytes) : NULL;
}

static inline void *reallocate(void *block, size_t size, uintptr_t caller) {
    size_t old = block ? il_block_size(block) : 0;
    if (!old && (block || !takes_from_arena(caller))) return IN_LIBC(__libc_realloc(block, size));
    if (block && !size) {
        release(block, caller);
        return NULL;
    }
    void *moved = allocate(size, 16, caller);
    if (block && moved) {
        memcpy(moved, block, old < size ? old : size);
        release(block, caller);
    }
    return moved;
}

EXPORT void *realloc(void *block, size_t size) { return reallocate(block, size, CALLER); }

EXPORT void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(block, bytes, CALLER);
}

/* The copies are the target's, so they come from the arena. */
static inline char *duplicate(const char *text, size_t length, uintptr_t caller) {
    char *copy = allocate(length + 1, 16, caller);
    if (!copy) return NULL;
    copy[length] = 0;
    return memcpy(copy, text, length);
}
EXPORT char *strdup(const char *text) { return duplicate(text, strlen(text), CALLER); }
EXPORT char *strndup(const char *text, size_t most) {
    return duplicate(text, strnlen(text, most), CALLER);
}

EXPORT void *memalign(size_t alignment, size_t size) { return allocate(size, alignment, CALLER); }
EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    return allocate(size, alignment, CALLER);
}
EXPORT void *valloc(size_t size) { return allocate(size, 4096, CALLER); }
EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1))) return EINVAL;
    void *allocated = allocate(size, alignment, CALLER);
    if (!allocated) return ENOMEM;
    *block = allocated;
    return 0;
}
size_t il_libc_usable_size(void *block);
EXPORT size_t malloc_usable_size(void *block) {
    size_t size = block ? il_block_size(block) : 0;
    return size ? size : il_libc_usable_size(block);
}

/* operator new and delete, by their mangled names (Itanium C++ ABI, 5.1.3): `m` is size_t. */
static inline void *new(size_t size, size_t alignment, uintptr_t caller) {
    void *block = allocate(size ? size : 1, alignment, caller);
    return block ? block : il_cxx_new_failed(size);
}
EXPORT void *_Znwm(size_t size) { return new(size, 16, CALLER); }
EXPORT void *_Znam(size_t size) { return new(size, 16, CALLER); }
EXPORT void *_ZnwmSt11align_val_t(size_t size, size_t a) { return new(size, a, CALLER); }
EXPORT void *_ZnamSt11align_val_t(size_t size, size_t a) { return new(size, a, CALLER); }
EXPORT void *_ZnwmRKSt9nothrow_t(size_t size, void *n) {
    (void)n;
    return allocate(size ? size : 1, 16, CALLER);
}
EXPORT void *_ZnamRKSt9nothrow_t(size_t size, void *n) {
    (void)n;
    return allocate(size ? size : 1, 16, CALLER);
}
EXPORT void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t a, void *n) {
    (void)n;
    return allocate(size ? size : 1, a, CALLER);
}
EXPORT void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t a, void *n) {
    (void)n;
    return allocate(size ? size : 1, a, CALLER);
}
EXPORT void _ZdlPv(void *block) { release(block, CALLER); }
EXPORT void _ZdaPv(void *block) { release(block, CALLER); }
EXPORT void _ZdlPvm(void *block, size_t s) { (void)s, release(block, CALLER); }
EXPORT void _ZdaPvm(void *block, size_t s) { (void)s, release(block, CALLER); }
EXPORT void _ZdlPvSt11align_val_t(void *block, size_t a) { (void)a, release(block, CALLER); }
EXPORT void _ZdaPvSt11align_val_t(void *block, size_t a) { (void)a, release(block, CALLER); }
EXPORT void _ZdlPvmSt11align_val_t(void *block, size_t s, size_t a) {
    (void)s, (void)a, release(block, CALLER);
}
EXPORT void _ZdaPvmSt11align_val_t(void *block, size_t s, size_t a) {
    (void)s, (void)a, release(block, CALLER);
}
EXPORT void _ZdlPvRKSt9nothrow_t(void *block, void *n) { (void)n, release(block, CALLER); }
EXPORT void _ZdaPvRKSt9nothrow_t(void *block, void *n) { (void)n, release(block, CALLER); }
EXPORT void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *block, size_t a, void *n) {
    (void)a, (void)n, release(block, CALLER);
}
EXPORT void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *block, size_t a, void *n) {
    (void)a, (void)n, release(block, CALLER);
}
