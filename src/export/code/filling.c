
// ---- Answers of the finding are uninitialised memory: new memory has the same contents each time,
// as it has where schedule.c forces an order.

void *__libc_malloc(size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void *filled(void *memory, size_t size) {
    return memory == NULL ? NULL : memset(memory, 0xa5, size);
}
void *malloc(size_t size) { return filled(__libc_malloc(size), size); }
void *aligned_alloc(size_t alignment, size_t size) {
    return filled(__libc_memalign(alignment, size), size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = filled(__libc_memalign(alignment, size), size);
    return *memory == NULL ? ENOMEM : 0;
}
