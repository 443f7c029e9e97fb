// ---- Threads begin together, and are left together.

static pthread_mutex_t crowd_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t crowd_changed = PTHREAD_COND_INITIALIZER;
static int ready_count, done_count, has_begun;

// A thread is ready for its calls: waits until all are.
static void ready(void) {
    pthread_mutex_lock(&crowd_lock);
    ready_count++;
    pthread_cond_broadcast(&crowd_changed);
    while (!has_begun) pthread_cond_wait(&crowd_changed, &crowd_lock);
    pthread_mutex_unlock(&crowd_lock);
}

// A thread has made all its calls: waits until all have.
static void done(void) {
    pthread_mutex_lock(&crowd_lock);
    done_count++;
    pthread_cond_broadcast(&crowd_changed);
    while (done_count < THREADS) pthread_cond_wait(&crowd_changed, &crowd_lock);
    pthread_mutex_unlock(&crowd_lock);
}

// Waits until so many threads are ready, or done; 0 if that does not happen in time.
static int wait_for_crowd(const int *count, int wanted) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += hang_seconds;
    int error = 0;
    pthread_mutex_lock(&crowd_lock);
    while (*count < wanted && error == 0)
        error = pthread_cond_timedwait(&crowd_changed, &crowd_lock, &until);
    pthread_mutex_unlock(&crowd_lock);
    return error == 0;
}

