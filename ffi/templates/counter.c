// NAME: a counter under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable counter.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

struct counter {
    pthread_mutex_t mutex;
    int64_t value; // a counter holds 0 at first
};

static struct counter *counter_new(void) {
    struct counter *counter = calloc(1, sizeof *counter);
    pthread_mutex_init(&counter->mutex, NULL);
    return counter;
}
static void counter_free(struct counter *counter) { free(counter); }

static void add(struct counter *counter, int64_t amount, int64_t *before) {
    pthread_mutex_lock(&counter->mutex);
    *before = counter->value; // leave this out if it does not tell the value before
    counter->value += amount;
    pthread_mutex_unlock(&counter->mutex);
}
static int64_t counter_read(struct counter *counter) {
    pthread_mutex_lock(&counter->mutex);
    int64_t value = counter->value;
    pthread_mutex_unlock(&counter->mutex);
    return value;
}

// What each thread needs for itself (a share of the counter) is a _Thread_local variable,
// which .enter sets.
INTERLAP_COUNTER(struct counter, .create = counter_new, .destroy = counter_free, .add = add,
                 .read = counter_read)
