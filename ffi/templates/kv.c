// NAME: a store of strings under test. (These first lines are shown by
// `interlap targets`; say what it is.)
//
// Guarantee: linearizable store of strings.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the store that you want to test, or the header that has it.
#include <pthread.h>

struct kv {
    pthread_mutex_t mutex;
    struct pair {
        char *key, *value;
    } *pairs;
    size_t count;
};

static struct kv *kv_new(void) {
    struct kv *kv = calloc(1, sizeof *kv);
    pthread_mutex_init(&kv->mutex, NULL);
    return kv;
}
static void kv_free(struct kv *kv) {
    for (size_t at = 0; at < kv->count; at++) {
        free(kv->pairs[at].key);
        free(kv->pairs[at].value);
    }
    free(kv->pairs);
    free(kv);
}
static char **find(struct kv *kv, const char *key) {
    for (size_t at = 0; at < kv->count; at++)
        if (strcmp(kv->pairs[at].key, key) == 0) return &kv->pairs[at].value;
    kv->pairs = realloc(kv->pairs, (kv->count + 1) * sizeof *kv->pairs);
    kv->pairs[kv->count] = (struct pair){strdup(key), strdup("")};
    return &kv->pairs[kv->count++].value;
}

static char *kv_get(struct kv *kv, const char *key) { // empty, or NULL, where nothing was put
    pthread_mutex_lock(&kv->mutex);
    char *value = strdup(*find(kv, key)); // interlap frees it
    pthread_mutex_unlock(&kv->mutex);
    return value;
}
// After a timeout, when it may or may not have happened: il_answer(IL_UNKNOWN).
static void kv_put(struct kv *kv, const char *key, const char *value) {
    pthread_mutex_lock(&kv->mutex);
    char **found = find(kv, key);
    free(*found);
    *found = strdup(value);
    pthread_mutex_unlock(&kv->mutex);
}
// Leave this out if the store has none.
static void kv_append(struct kv *kv, const char *key, const char *value) {
    pthread_mutex_lock(&kv->mutex);
    char **found = find(kv, key);
    *found = realloc(*found, strlen(*found) + strlen(value) + 1);
    strcat(*found, value);
    pthread_mutex_unlock(&kv->mutex);
}

// What each thread needs for itself (a session, a connection) is a _Thread_local variable,
// which .enter sets.
INTERLAP_KV(struct kv, .create = kv_new, .destroy = kv_free, .get = kv_get, .put = kv_put,
            .append = kv_append)
