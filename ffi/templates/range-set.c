// NAME: an ordered set under test. (These first lines are shown by
// `interlap targets`; say what it is.)
//
// Guarantee: linearizable set with ranges.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

struct set {
    pthread_mutex_t mutex;
    int64_t *keys; // the lowest first
    size_t count;
};

static struct set *set_new(void) {
    struct set *set = calloc(1, sizeof *set);
    pthread_mutex_init(&set->mutex, NULL);
    return set;
}
static void set_free(struct set *set) {
    free(set->keys);
    free(set);
}
static size_t below(struct set *set, int64_t key) { // how many keys are below this one
    size_t n = 0;
    while (n < set->count && set->keys[n] < key) n++;
    return n;
}
static bool is_at(struct set *set, size_t at, int64_t key) {
    return at < set->count && set->keys[at] == key;
}

// Leave out what the structure does not have. Keys are integers: map them to what you need, in the
// same order. Ranges include both ends.
static bool set_insert(struct set *set, int64_t key) { // false: it was there already
    pthread_mutex_lock(&set->mutex);
    size_t at = below(set, key);
    bool is_new = !is_at(set, at, key);
    if (is_new) {
        set->keys = realloc(set->keys, (set->count + 1) * sizeof *set->keys);
        memmove(set->keys + at + 1, set->keys + at, (set->count++ - at) * sizeof *set->keys);
        set->keys[at] = key;
    }
    pthread_mutex_unlock(&set->mutex);
    return is_new;
}
static bool set_remove(struct set *set, int64_t key) { // false: it was not there
    pthread_mutex_lock(&set->mutex);
    size_t at = below(set, key);
    bool found = is_at(set, at, key);
    if (found)
        memmove(set->keys + at, set->keys + at + 1, (--set->count - at) * sizeof *set->keys);
    pthread_mutex_unlock(&set->mutex);
    return found;
}
static bool set_contains(struct set *set, int64_t key) {
    pthread_mutex_lock(&set->mutex);
    bool found = is_at(set, below(set, key), key);
    pthread_mutex_unlock(&set->mutex);
    return found;
}
static int64_t set_range_count(struct set *set, int64_t low, int64_t high) {
    pthread_mutex_lock(&set->mutex);
    size_t first = below(set, low), end = below(set, high);
    int64_t n = high < low ? 0 : (int64_t)(end - first) + is_at(set, end, high);
    pthread_mutex_unlock(&set->mutex);
    return n;
}
static int64_t set_rank(struct set *set, int64_t key) { // how many keys are below this one
    pthread_mutex_lock(&set->mutex);
    int64_t n = (int64_t)below(set, key);
    pthread_mutex_unlock(&set->mutex);
    return n;
}
static int64_t set_size(struct set *set) {
    pthread_mutex_lock(&set->mutex);
    int64_t n = (int64_t)set->count;
    pthread_mutex_unlock(&set->mutex);
    return n;
}
static bool set_select(struct set *set, int64_t n, int64_t *key) { // the key above n others
    pthread_mutex_lock(&set->mutex);
    bool found = n >= 0 && (size_t)n < set->count;
    if (found) *key = set->keys[n];
    pthread_mutex_unlock(&set->mutex);
    return found; // false: there is none
}
static size_t set_range_list(struct set *set, int64_t low, int64_t high, int64_t *keys,
                             size_t most) { // how many
    size_t n = 0;
    pthread_mutex_lock(&set->mutex);
    for (size_t at = below(set, low); at < set->count && set->keys[at] <= high && n < most; at++)
        keys[n++] = set->keys[at];
    pthread_mutex_unlock(&set->mutex);
    return n;
}

// What each thread needs for itself (hazard pointers, an epoch) is a _Thread_local variable,
// which .enter sets.
INTERLAP_RANGE_SET(struct set, .create = set_new, .destroy = set_free, .insert = set_insert,
                   .remove = set_remove, .contains = set_contains, .range_count = set_range_count,
                   .rank = set_rank, .size = set_size, .select = set_select,
                   .range_list = set_range_list)
