// ---- The structure is called through `interlap_target`, the table that its code gives.

static const il_target *target;
static void *structure;

static void ignore(struct il_call *call) { (void)call; }
static void give_up(const char *message) {
    fprintf(stderr, "the structure cannot be made: %s\n", message);
    exit(2);
}
static const il_host host = {ignore, ignore, give_up};

static void make_structure(void) {
    static il_config config = {&host, NULL, 1, THREADS, 0};
    config.directory = own_directory();
    target = interlap_target();
    structure = target->create(&config);
    config.round++;
}
static void destroy_structure(void) { target->destroy(structure); }

// Each thread enters before its first call and leaves after its last.
static void *enter(int thread) {
    return target->enter == NULL ? NULL : target->enter(structure, (uint32_t)thread);
}
static void leave(void *local) {
    if (target->leave != NULL) target->leave(structure, local);
}

static const char *word_for(uint32_t op, uint32_t status) {
    size_t at = 0;
    while (said[at].op != op) at++;
    return said[at].words[status % 6];
}

// Makes a call with `count` arguments and gives what it answered, in words.
static const char *call(int thread, void *local, uint32_t op, uint32_t count, ...) {
    static __thread int64_t results[VALUES];
    int64_t values[VALUES]; // on the stack, where nobody else looks
    static __thread char words[VALUES * 24];
    va_list list;
    va_start(list, count);
    for (uint32_t at = 0; at < count; at++) values[at] = va_arg(list, int64_t);
    va_end(list);
    il_call one;
    memset(&one, 0, sizeof one);
    one.op = op, one.thread = (uint32_t)thread, one.host = &host;
    one.args = values, one.arg_count = count;
    one.results = results, one.result_room = VALUES;
    target->call(structure, local, &one);
    size_t end = 0;
    words[0] = 0;
    if (one.status != IL_OK || one.result_count == 0)
        end += (size_t)sprintf(words, "%s", word_for(op, one.status));
    if (one.status != IL_OK && one.result_count > 0) end += (size_t)sprintf(words + end, " (");
    for (uint32_t at = 0; at < one.result_count; at++)
        end += (size_t)sprintf(words + end, "%s%lld", at > 0 ? ", " : "", (long long)results[at]);
    if (one.status != IL_OK && one.result_count > 0) sprintf(words + end, ")");
    return words;
}

