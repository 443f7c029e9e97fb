// NAME: a structure under test. (These first lines are shown by `interlap targets`; say what it
// is.)
//
// Guarantee: each function takes effect at one instant of its call.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

// A few permits.
struct semaphore {
    pthread_mutex_t mutex;
    int64_t permits;
};

static struct semaphore *semaphore_new(void) {
    struct semaphore *it = calloc(1, sizeof *it);
    pthread_mutex_init(&it->mutex, NULL);
    it->permits = 2;
    return it;
}
static void semaphore_free(struct semaphore *it) { free(it); }

static bool semaphore_try_acquire(struct semaphore *it) {
    pthread_mutex_lock(&it->mutex);
    bool done = it->permits > 0;
    if (done) it->permits--;
    pthread_mutex_unlock(&it->mutex);
    return done;
}
static int64_t semaphore_release(struct semaphore *it, int64_t permits) {
    pthread_mutex_lock(&it->mutex);
    int64_t after = it->permits += permits;
    pthread_mutex_unlock(&it->mutex);
    return after;
}

// Each method takes its arguments from call->args, and puts what it answers with il_put. interlap.h
// says which types there are, and how many words stand for each.
static void try_acquire(struct semaphore *it, il_call *call) {
    il_put(call, semaphore_try_acquire(it));
}
static void release(struct semaphore *it, il_call *call) {
    il_put(call, semaphore_release(it, call->args[0]));
}

// No model is needed: answers are right if the structure, called by one thread at a time in some
// order, gives the same. Methods may wait for each other.
INTERLAP_OPERATIONS(struct semaphore, .create = semaphore_new, .destroy = semaphore_free,
                    .methods = {{"try_acquire() -> bool", try_acquire},
                                {"release(int) -> int", release}})
