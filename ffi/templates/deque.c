// NAME: a work-stealing deque under test. (These first lines are shown by
// `interlap targets`; say what it is.)
//
// Guarantee: linearizable deque with one owner.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

enum { CAPACITY = 1024 };
struct deque {
    pthread_mutex_t mutex;
    int64_t values[CAPACITY];
    size_t top, bottom;
};

static struct deque *deque_new(void) {
    struct deque *deque = calloc(1, sizeof *deque);
    pthread_mutex_init(&deque->mutex, NULL);
    return deque;
}
static void deque_free(struct deque *deque) { free(deque); }

// The owner, thread 0, pushes and takes at the bottom.
static bool push(struct deque *deque, int64_t value) { // false: full
    pthread_mutex_lock(&deque->mutex);
    bool done = deque->bottom - deque->top < CAPACITY;
    if (done) deque->values[deque->bottom++ % CAPACITY] = value;
    pthread_mutex_unlock(&deque->mutex);
    return done;
}
static bool take(struct deque *deque, int64_t *value) { // false: empty
    pthread_mutex_lock(&deque->mutex);
    bool done = deque->top < deque->bottom;
    if (done) *value = deque->values[--deque->bottom % CAPACITY];
    pthread_mutex_unlock(&deque->mutex);
    return done;
}
// Every other thread steals at the top.
static bool steal(struct deque *deque, int64_t *value) { // false: empty
    pthread_mutex_lock(&deque->mutex);
    bool done = deque->top < deque->bottom;
    if (done) *value = deque->values[deque->top++ % CAPACITY];
    pthread_mutex_unlock(&deque->mutex);
    return done;
}

// .model is what it promises: "deque" (without it); "deque:empty=lone" if a steal may answer
// "empty" because it lost a race.
INTERLAP_DEQUE(struct deque, .create = deque_new, .destroy = deque_free, .push = push,
               .take = take, .steal = steal, .capacity = CAPACITY, .model = "deque")
