static void *start(void *number) {
    bodies[*(int *)number]();
    return NULL;
}

// Whatever takes too long does not return.
static void takes_too_long(int signal) {
    (void)signal;
    fflush(stdout);
    say_and_exit(HANGS, status_of_hang);
}

int main(int argc, char **argv) {
    if (argc > 2) hang_seconds = atoi(argv[2]);
    if (hang_seconds / 2 < stuck_seconds) stuck_seconds = hang_seconds / 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    pthread_t handles[THREADS];
    int numbers[THREADS];
    signal(SIGALRM, takes_too_long);
    alarm((unsigned)hang_seconds);
    make_structure();
    for (int thread = 0; thread < THREADS; thread++) {
        numbers[thread] = thread;
        if (pthread_create(&handles[thread], NULL, start, &numbers[thread]) != 0) abort();
    }
    for (int thread = 0; thread < THREADS; thread++) join(handles[thread]);
    for (int thread = 0; thread < THREADS; thread++) drain(&threads[thread]);
    at_the_end();
    destroy_structure();
    alarm(0);
    if (!TELL_AT_ONCE) tell();
    if (WANTS_ANSWERS && differences == 0 && !out_of_order) {
        printf("REPRODUCED: %s\n", FINDING);
        return 1;
    }
    int last = lost < 0 ? turn_count : lost;
    printf("not reproduced: the schedule could be followed to step %d of %d\n", last, turn_count);
    if (out_of_order) puts("calls did not come in the order of the finding");
    return 0;
}
