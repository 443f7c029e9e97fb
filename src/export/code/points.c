// Where the calling thread's next call is to stop, and which turn it waits for then.
static __thread struct { int point, pass, turn; } stops[STOPS];
static __thread int stop_count, next_stop, passes;

// In the next call, when it comes by `point` for the `pass`-th time: the others go on until it is
// that turn.
static void stop_at(int point, int pass, int turn) {
    stops[stop_count].point = point;
    stops[stop_count].pass = pass;
    stops[stop_count++].turn = turn;
}

static void stop_here(void) {
    int turn = stops[next_stop++].turn;
    passes = 0;
    end_turn();
    my_turn(turn);
}

// What REPRODUCER_POINT(name) does.
static void reproducer_point(int point) {
    if (next_stop < stop_count && stops[next_stop].point == point &&
        ++passes == stops[next_stop].pass)
        stop_here();
}

static void has_returned(int thread) {
    (void)thread;
    while (next_stop < stop_count) stop_here(); // it did not come by: went another way
    stop_count = next_stop = passes = 0;
}

