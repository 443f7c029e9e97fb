// NAME: a register under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable register.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

struct cell {
    pthread_mutex_t mutex;
    int64_t value; // a register holds 0 at first
};

static struct cell *cell_new(void) {
    struct cell *it = calloc(1, sizeof *it);
    pthread_mutex_init(&it->mutex, NULL);
    return it;
}
static void cell_free(struct cell *it) { free(it); }

static int64_t cell_read(struct cell *it) {
    pthread_mutex_lock(&it->mutex);
    int64_t value = it->value;
    pthread_mutex_unlock(&it->mutex);
    return value;
}
// Leave out what the structure does not have.
static void cell_write(struct cell *it, int64_t value) {
    pthread_mutex_lock(&it->mutex);
    it->value = value;
    pthread_mutex_unlock(&it->mutex);
}
static bool compare_exchange(struct cell *it, int64_t old, int64_t value) { // false: not `old`
    pthread_mutex_lock(&it->mutex);
    bool done = it->value == old;
    if (done) it->value = value;
    pthread_mutex_unlock(&it->mutex);
    return done;
}

// What each thread needs for itself (a session) is a _Thread_local variable,
// which .enter sets.
INTERLAP_REGISTER(struct cell, .create = cell_new, .destroy = cell_free, .read = cell_read,
                  .write = cell_write, .compare_exchange = compare_exchange)
