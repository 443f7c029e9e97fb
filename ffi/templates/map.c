// NAME: a map under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable map.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

struct map {
    pthread_mutex_t mutex;
    struct entry {
        int64_t key, value;
    } *entries;
    size_t count;
};

static struct map *map_new(void) {
    struct map *map = calloc(1, sizeof *map);
    pthread_mutex_init(&map->mutex, NULL);
    return map;
}
static void map_free(struct map *map) {
    free(map->entries);
    free(map);
}
static struct entry *find(struct map *map, int64_t key) {
    for (size_t at = 0; at < map->count; at++)
        if (map->entries[at].key == key) return &map->entries[at];
    return NULL;
}
static void append(struct map *map, int64_t key, int64_t value) {
    map->entries = realloc(map->entries, (map->count + 1) * sizeof *map->entries);
    map->entries[map->count++] = (struct entry){key, value};
}

static bool map_get(struct map *map, int64_t key, int64_t *value) { // false: absent
    pthread_mutex_lock(&map->mutex);
    struct entry *found = find(map, key);
    if (found != NULL) *value = found->value;
    pthread_mutex_unlock(&map->mutex);
    return found != NULL;
}
// Leave out what the structure does not have of the following; also possible: compare_exchange.
static void map_put(struct map *map, int64_t key, int64_t value) {
    pthread_mutex_lock(&map->mutex);
    struct entry *found = find(map, key);
    if (found != NULL) found->value = value;
    else append(map, key, value);
    pthread_mutex_unlock(&map->mutex);
}
static bool map_insert_if_absent(struct map *map, int64_t key, int64_t value) { // false: present
    pthread_mutex_lock(&map->mutex);
    bool is_new = find(map, key) == NULL;
    if (is_new) append(map, key, value);
    pthread_mutex_unlock(&map->mutex);
    return is_new;
}
static bool map_remove(struct map *map, int64_t key) { // false: absent
    pthread_mutex_lock(&map->mutex);
    struct entry *found = find(map, key);
    if (found != NULL) *found = map->entries[--map->count];
    pthread_mutex_unlock(&map->mutex);
    return found != NULL;
}

// What each thread needs for itself (a session, a cursor) is a _Thread_local variable,
// which .enter sets.
INTERLAP_MAP(struct map, .create = map_new, .destroy = map_free, .get = map_get, .put = map_put,
             .insert_if_absent = map_insert_if_absent, .remove = map_remove)
