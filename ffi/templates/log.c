// NAME: a log under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable log.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

struct log {
    pthread_mutex_t mutex;
    int64_t *records;
    int64_t count;
};

static struct log *log_new(void) {
    struct log *log = calloc(1, sizeof *log);
    pthread_mutex_init(&log->mutex, NULL);
    return log;
}
static void log_free(struct log *log) {
    free(log->records);
    free(log);
}

// false: nothing was appended. After a timeout: return il_answer(IL_UNKNOWN).
static bool append(struct log *log, int64_t value, int64_t *position) { // the first is 0
    pthread_mutex_lock(&log->mutex);
    *position = log->count++;
    log->records = realloc(log->records, (size_t)log->count * sizeof *log->records);
    log->records[*position] = value;
    pthread_mutex_unlock(&log->mutex);
    return true;
}
// Leave out what the structure does not have.
static bool log_read(struct log *log, int64_t position, int64_t *value) { // false: not there yet
    pthread_mutex_lock(&log->mutex);
    bool found = position < log->count;
    if (found) *value = log->records[position];
    pthread_mutex_unlock(&log->mutex);
    return found;
}
static int64_t check_tail(struct log *log) { // how many records there are
    pthread_mutex_lock(&log->mutex);
    int64_t count = log->count;
    pthread_mutex_unlock(&log->mutex);
    return count;
}

// Also possible, if only one thread may append: .one_producer = true
// What each thread needs for itself (a session, a cursor) is a _Thread_local variable,
// which .enter sets.
INTERLAP_LOG(struct log, .create = log_new, .destroy = log_free, .append = append,
             .read = log_read, .check_tail = check_tail)
