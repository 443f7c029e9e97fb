// ---- What is called and answered, in the order of the answers.

static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;
static char notes[CALLS + 1][200];
static int note_count, differences, returned[THREADS + 1];
static int out_of_turn; // threads did not go in the order of the finding: answers prove nothing

// A call has returned: notes what it answered, and whether that is what the finding has.
static void check(int thread, const char *call, const char *answer, const char *expected) {
    pthread_mutex_lock(&notes_lock);
    int same = strcmp(answer, expected) == 0;
    char who[32] = "at the end";
    if (thread < THREADS) snprintf(who, sizeof who, "thread %d", thread);
    snprintf(notes[note_count], sizeof notes[0], "  %-10s %s -> %s%s%s", who, call, answer,
             same ? "" : "      the finding has: ", same ? "" : expected);
    if (TELL_AT_ONCE) puts(notes[note_count]);
    note_count += note_count < CALLS;
    differences += !same;
    pthread_mutex_unlock(&notes_lock);
    has_returned(thread);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

