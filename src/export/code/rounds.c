static void *start(void *number) {
    bodies[*(int *)number]();
    return NULL;
}

// All of it once; whether the finding was seen.
static int round_shows_it(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    reset();
    make_structure();
    for (int thread = 0; thread < THREADS; thread++) {
        numbers[thread] = thread;
        if (pthread_create(&threads[thread], NULL, start, &numbers[thread]) != 0) abort();
        wait_for_crowd(&ready_count, thread + 1);
    }
    pthread_mutex_lock(&crowd_lock);
    has_begun = 1;
    pthread_cond_broadcast(&crowd_changed);
    pthread_mutex_unlock(&crowd_lock);
    if (!wait_for_crowd(&done_count, THREADS)) hangs();
    for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
    at_the_end();
    destroy_structure();
    return WANTS_ANSWERS && differences == 0 && !out_of_turn;
}

static unsigned long rounds;

// Whether the finding is seen, until the time is over.
static int shows_it(double end) {
    int is_shown;
    do {
        rounds++;
        is_shown = round_shows_it();
    } while (!is_shown && now() < end);
    return is_shown;
}

