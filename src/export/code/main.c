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

int main(int argc, char **argv) {
    double end = now() + (argc > 1 ? atof(argv[1]) : SECONDS);
    unsigned long rounds = 0;
    if (argc > 2) hang_seconds = atoi(argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    do {
        rounds++;
        if (round_shows_it()) {
            tell();
            printf("REPRODUCED in round %lu: %s\n", rounds, FINDING);
            return 1;
        }
    } while (now() < end);
    if (!TELL_AT_ONCE) tell();
    printf("not seen in %lu round%s (the last one is above)\n", rounds, rounds == 1 ? "" : "s");
    if (out_of_turn)
        puts("a thread did not end its turn: the code waits where it did not in the finding, or the "
             "machine is busy");
    return 0;
}
