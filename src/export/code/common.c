// ---- What is called and answered, in the order of the answers.

struct note {
    int thread;
    const char *asked, *expected; // the call, and the answer that was found
    char answer[120];
};
static struct note notes[CALLS + 1];
static int note_count, differences, returned[THREADS + 1];

static void tell_note(const struct note *note) {
    int same = strcmp(note->answer, note->expected) == 0;
    char who[32] = "at the end";
    if (note->thread < THREADS) snprintf(who, sizeof who, "thread %d", note->thread);
    printf("  %-10s %s -> %s%s%s\n", who, note->asked, note->answer,
           same ? "" : "      the finding has: ", same ? "" : note->expected);
}
static void tell(void) {
    for (int at = 0; at < note_count && at < CALLS; at++) tell_note(&notes[at]);
    fflush(stdout);
}

// A call has returned: notes what it answered, and whether that is what the finding has. No thread
// waits for another here.
static void check(int thread, const char *call, const char *answer, const char *expected) {
    int at = __atomic_fetch_add(&note_count, 1, __ATOMIC_SEQ_CST);
    struct note *note = &notes[at < CALLS ? at : CALLS];
    size_t length = strlen(answer), most = sizeof note->answer - 1;
    if (length > most) length = most;
    note->thread = thread, note->asked = call, note->expected = expected;
    memcpy(note->answer, answer, length);
    note->answer[length] = 0;
    if (TELL_AT_ONCE) tell_note(note);
    if (strcmp(answer, expected) != 0) __atomic_fetch_add(&differences, 1, __ATOMIC_SEQ_CST);
    has_returned(thread);
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

