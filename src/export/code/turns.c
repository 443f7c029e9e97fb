// ---- Turns: they force the order in which the threads run.
//
// Turns are numbered from 0. A thread waits for its turn, makes calls, and ends its turn, so that one
// thread runs at a time. A call is left in the middle at a REPRODUCER_POINT(name): the call in the
// code below that was told to stop there ends its turn and waits for a later one.

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int current_turn;
static __thread int own_turn;

static void set_turn(int turn) {
    if (turn > current_turn) current_turn = turn;
    pthread_cond_broadcast(&turn_changed);
}

// Turns that do not end by themselves: their last call waits for a lock, as it did in the finding.
static int may_block(int turn) {
    const int turns[] = {/* turns */ -1};
    for (int at = 0; turns[at] >= 0; at++)
        if (turns[at] == turn) return 1;
    return 0;
}

// Waits for a turn. If the thread before does not end its own for a while, it is this thread's turn,
// too; where that is not as in the finding (the library has changed, or the machine was busy), the
// round counts for nothing.
static void my_turn(int turn) {
    own_turn = turn;
    pthread_mutex_lock(&turn_lock);
    int before = -1, error = 0;
    struct timespec until;
    while (current_turn < turn && !(error != 0 && current_turn == turn - 1)) {
        if (before != current_turn) {
            before = current_turn;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += may_block(turn - 1) ? SECONDS_THAT_ARE_A_WAIT : 2;
        }
        error = pthread_cond_timedwait(&turn_changed, &turn_lock, &until);
        if (error != 0 && current_turn < turn - 1) before = -1, error = 0;
    }
    if (current_turn < turn && !may_block(turn - 1)) out_of_turn = 1;
    set_turn(turn);
    pthread_mutex_unlock(&turn_lock);
}

static void end_turn(void) {
    pthread_mutex_lock(&turn_lock);
    set_turn(own_turn + 1);
    pthread_mutex_unlock(&turn_lock);
}

