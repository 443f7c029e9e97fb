// ---- Threads run at once; calls wait only for those that had returned before in the finding, and
// for a short time, another in each round. Nobody sleeps: what decides may be a few instructions.

static __thread unsigned dice;
static int arrived, meetings;

// One more look at what is waited for.
static void look_again(unsigned *looks) {
    if (++*looks % 1024 == 0) sched_yield();
}

// Waits until all threads are here.
static void meet(void) {
    int meeting = __atomic_load_n(&meetings, __ATOMIC_SEQ_CST);
    unsigned looks = 0;
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST) == THREADS) {
        arrived = 0;
        __atomic_store_n(&meetings, meeting + 1, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&meetings, __ATOMIC_SEQ_CST) == meeting) look_again(&looks);
}
static __thread int own_thread;
static void ready(int thread) {
    own_thread = thread;
    meet();
}
static void done(void) { meet(); }

static void has_returned(int thread) {
    __atomic_fetch_add(&returned[thread], 1, __ATOMIC_SEQ_CST);
}

// Waits until that thread has returned from so many calls.
__attribute__((unused)) static void after(int thread, int calls) {
    unsigned looks = 0;
    while (__atomic_load_n(&returned[thread], __ATOMIC_SEQ_CST) < calls) look_again(&looks);
}

// Waits for a short time, or not at all.
static void next_call(int call) {
    (void)call;
    if (dice == 0) dice = (unsigned)(seconds() * 1e6) * 2u + (unsigned)own_thread * 7919u + 1u;
    dice = dice * 1664525u + 1013904223u;
    unsigned what = dice >> 22;
    if (what == 0) usleep(1 + (dice >> 12) % 100);
    unsigned most = what < 512 ? 1 : what < 896 ? 100 : 1000;
    for (volatile unsigned spin = (dice >> 8) % most; spin > 0;) spin = spin - 1;
}

