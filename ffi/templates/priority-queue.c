// NAME: a priority queue under test. (These first lines are shown by
// `interlap targets`; say what it is.)
//
// Guarantee: linearizable priority queue, the smallest value first.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

enum { CAPACITY = 1024 };
struct heap {
    pthread_mutex_t mutex;
    int64_t values[CAPACITY];
    size_t count;
};

static struct heap *heap_new(void) {
    struct heap *heap = calloc(1, sizeof *heap);
    pthread_mutex_init(&heap->mutex, NULL);
    return heap;
}
static void heap_free(struct heap *heap) { free(heap); }

static bool insert(struct heap *heap, int64_t value) { // false: full
    pthread_mutex_lock(&heap->mutex);
    bool done = heap->count < CAPACITY;
    if (done) heap->values[heap->count++] = value;
    pthread_mutex_unlock(&heap->mutex);
    return done;
}
// The smallest value leaves first. If yours hands out the largest, put in ~value, and ~ again what
// comes out.
static bool poll(struct heap *heap, int64_t *value) { // false: empty
    pthread_mutex_lock(&heap->mutex);
    bool done = heap->count > 0;
    if (done) {
        size_t first = 0;
        for (size_t at = 1; at < heap->count; at++)
            if (heap->values[at] < heap->values[first]) first = at;
        *value = heap->values[first];
        heap->values[first] = heap->values[--heap->count];
    }
    pthread_mutex_unlock(&heap->mutex);
    return done;
}

// .model is what it promises: "priority-queue" (without it). Options follow a colon:
// "priority-queue:empty=lone".
// What each thread needs for itself (a list of free nodes) is a _Thread_local variable,
// which .enter sets.
INTERLAP_PRIORITY_QUEUE(struct heap, .create = heap_new, .destroy = heap_free, .insert = insert,
                        .poll = poll, .capacity = CAPACITY, .model = "priority-queue")
