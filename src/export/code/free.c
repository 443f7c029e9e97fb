// ---- Threads run at once; calls wait only for those that had returned before in the finding, and
// for a short time, another in each round.

static pthread_mutex_t returned_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned_changed = PTHREAD_COND_INITIALIZER;
static __thread unsigned dice;

static void has_returned(int thread) {
    pthread_mutex_lock(&returned_lock);
    returned[thread]++;
    pthread_cond_broadcast(&returned_changed);
    pthread_mutex_unlock(&returned_lock);
}

// Waits until that thread has returned from so many calls.
__attribute__((unused)) static void after(int thread, int calls) {
    pthread_mutex_lock(&returned_lock);
    while (returned[thread] < calls) pthread_cond_wait(&returned_changed, &returned_lock);
    pthread_mutex_unlock(&returned_lock);
}

// Waits for a short time, or not at all.
static void dawdle(int thread) {
    if (dice == 0) dice = (unsigned)(now() * 1e6) * 2u + (unsigned)thread * 7919u + 1u;
    dice = dice * 1664525u + 1013904223u;
    unsigned what = dice >> 28;
    if (what == 0) usleep(1 + (dice >> 20) % 100);
    for (volatile unsigned spin = what < 8 ? 0 : (dice >> 16) % 1000; spin > 0;) spin = spin - 1;
}

