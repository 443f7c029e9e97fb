// All of it over and over, each time with a structure of its own. The threads are new ones after
// so many laps.
static const double SECONDS = 60; // how long to try, if not told
static unsigned long rounds;
static int finished, is_shown;
static volatile int is_over; // a compiler may otherwise keep it in a register
static double end_of_time;

static void hangs(void) {
    tell();
    puts(HANGS);
    fflush(stdout);
    _exit(status_of_hang);
}
static void reset(void) {
    differences = note_count = 0;
    memset(returned, 0, sizeof returned);
}

// The calls have returned.
static void end_lap(void) {
    at_the_end();
    destroy_structure();
    is_shown |= WANTS_ANSWERS && differences == 0;
}
static void *start(void *number) {
    int me = *(int *)number;
    for (int lap = 1; !is_over; lap++) {
        bodies[me]();
        if (LAPS == 1) break;
        if (me == 0) {
            end_lap();
            is_over = is_shown || lap == LAPS || seconds() >= end_of_time;
        }
        if (me == 0 && !is_over) {
            reset();
            make_structure();
            __atomic_fetch_add(&rounds, 1, __ATOMIC_SEQ_CST);
        }
        meet();
    }
    __atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

// Whether the finding is seen, until the time is over.
static int shows_it(double end) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    end_of_time = end;
    do {
        reset();
        make_structure();
        unsigned long last = __atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST);
        double since = seconds();
        is_over = finished = 0;
        for (int thread = 0; thread < THREADS; thread++) {
            numbers[thread] = thread;
            if (pthread_create(&threads[thread], NULL, start, &numbers[thread]) != 0) abort();
        }
        while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) < THREADS) {
            usleep(500);
            unsigned long round = __atomic_load_n(&rounds, __ATOMIC_SEQ_CST);
            if (round != last) last = round, since = seconds();
            if (seconds() > since + hang_seconds) hangs();
        }
        for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], NULL);
        if (LAPS == 1) end_lap();
    } while (!is_shown && seconds() < end);
    return is_shown;
}


int main(int argc, char **argv) {
    if (argc > 2) hang_seconds = atoi(argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (shows_it(seconds() + (argc > 1 ? atof(argv[1]) : SECONDS))) {
        tell();
        printf("REPRODUCED in round %lu: %s\n", rounds, FINDING);
        return 1;
    }
    if (!TELL_AT_ONCE) tell();
    printf("not seen in %lu round%s (the last one is above)\n", rounds, rounds == 1 ? "" : "s");
    return 0;
}
