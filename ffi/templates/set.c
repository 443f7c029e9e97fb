// NAME: a set under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable set.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

struct set {
    pthread_mutex_t mutex;
    int64_t *keys;
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
static size_t find(struct set *set, int64_t key) { // where it is, or the end
    size_t at = 0;
    while (at < set->count && set->keys[at] != key) at++;
    return at;
}

// Leave out what the structure does not have. Keys are integers: map them to what you need.
static bool set_insert(struct set *set, int64_t key) { // false: it was there already
    pthread_mutex_lock(&set->mutex);
    bool is_new = find(set, key) == set->count;
    if (is_new) {
        set->keys = realloc(set->keys, (set->count + 1) * sizeof *set->keys);
        set->keys[set->count++] = key;
    }
    pthread_mutex_unlock(&set->mutex);
    return is_new;
}
static bool set_remove(struct set *set, int64_t key) { // false: it was not there
    pthread_mutex_lock(&set->mutex);
    size_t at = find(set, key);
    bool found = at < set->count;
    if (found) set->keys[at] = set->keys[--set->count];
    pthread_mutex_unlock(&set->mutex);
    return found;
}
static bool set_contains(struct set *set, int64_t key) {
    pthread_mutex_lock(&set->mutex);
    bool found = find(set, key) < set->count;
    pthread_mutex_unlock(&set->mutex);
    return found;
}

// What each thread needs for itself (hazard pointers, an epoch) is a _Thread_local variable,
// which .enter sets.
INTERLAP_SET(struct set, .create = set_new, .destroy = set_free, .insert = set_insert,
             .remove = set_remove, .contains = set_contains)
