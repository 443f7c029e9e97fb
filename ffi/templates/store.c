// NAME: a store with transactions under test. (These first lines are shown by
// `interlap targets`; say what it is.)
//
// Guarantee: snapshot isolation.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for transactions that no order explains
#include <interlap_c.h>

// Replace from here: the store that you want to test, or the header that has it.
#include <pthread.h>

enum { KEYS = 64 }; // interlap calls with fewer, unless --keys says otherwise
struct version {
    bool is_there;
    int64_t value, time; // when it was committed
};
struct store {
    pthread_mutex_t mutex;
    struct version committed[KEYS];
    int64_t now;
};

// The transaction of a thread, or its session.
static _Thread_local struct transaction {
    struct version seen[KEYS], own[KEYS];
    bool changed[KEYS];
} mine;

static struct store *store_new(void) {
    struct store *store = calloc(1, sizeof *store);
    pthread_mutex_init(&store->mutex, NULL);
    return store;
}
static void store_free(struct store *store) { free(store); }

static void begin(struct store *store, int64_t *timestamp) {
    (void)timestamp; // its read timestamp, if the store has one
    memset(&mine, 0, sizeof mine);
    pthread_mutex_lock(&store->mutex);
    memcpy(mine.seen, store->committed, sizeof mine.seen);
    pthread_mutex_unlock(&store->mutex);
}
static bool store_read(struct store *store, int64_t key, int64_t *value) { // false: absent
    (void)store;
    if (key >= KEYS) return il_answer(IL_UNSUPPORTED);
    struct version *found = mine.changed[key] ? &mine.own[key] : &mine.seen[key];
    if (found->is_there) *value = found->value;
    return found->is_there;
}
static bool store_write(struct store *store, int64_t key, int64_t value) {
    (void)store;
    if (key >= KEYS) return il_answer(IL_UNSUPPORTED);
    mine.changed[key] = true;
    mine.own[key] = (struct version){true, value, 0};
    return true; // false: refused; an abort follows
}
static bool store_remove(struct store *store, int64_t key) {
    (void)store;
    if (key >= KEYS) return il_answer(IL_UNSUPPORTED);
    mine.changed[key] = true;
    mine.own[key] = (struct version){0};
    return true; // false: refused; an abort follows
}
// false: rolled back. If it may or may not have happened: return il_answer(IL_UNKNOWN).
static bool commit(struct store *store, int64_t *timestamp) {
    (void)timestamp; // its commit timestamp, if the store has one
    bool done = true;
    pthread_mutex_lock(&store->mutex);
    for (int key = 0; key < KEYS; key++) // somebody else has changed the key since
        if (mine.changed[key] && store->committed[key].time != mine.seen[key].time) done = false;
    if (done) store->now++;
    for (int key = 0; done && key < KEYS; key++) {
        if (!mine.changed[key]) continue;
        store->committed[key] = mine.own[key];
        store->committed[key].time = store->now;
    }
    pthread_mutex_unlock(&store->mutex);
    return done;
}
// .leave, too, is to abort what is under way.
static void store_abort(struct store *store) { (void)store; }

// .model is what it promises: "snapshot" (without it), or "serializable".
INTERLAP_STORE(struct store, .create = store_new, .destroy = store_free, .begin = begin,
               .read = store_read, .write = store_write, .remove = store_remove,
               .commit = commit, .abort = store_abort, .model = "snapshot")
