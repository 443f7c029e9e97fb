// NAME: a queue under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable FIFO queue.
// Source: (say which document promises it)
// Flags to compile or link with go on a line of their own, after "interlap:"; sources of the
// library that are to be compiled along, after "interlap: source".
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

enum { CAPACITY = 1024 };
struct queue {
    pthread_mutex_t mutex;
    int64_t values[CAPACITY];
    size_t head, tail;
};

static struct queue *queue_new(void) {
    struct queue *queue = calloc(1, sizeof *queue);
    pthread_mutex_init(&queue->mutex, NULL);
    return queue;
}
static void queue_free(struct queue *queue) { free(queue); }

static bool enqueue(struct queue *queue, int64_t value) { // false: full
    pthread_mutex_lock(&queue->mutex);
    bool done = queue->tail - queue->head < CAPACITY;
    if (done) queue->values[queue->tail++ % CAPACITY] = value;
    pthread_mutex_unlock(&queue->mutex);
    return done;
}
static bool dequeue(struct queue *queue, int64_t *value) { // false: empty
    pthread_mutex_lock(&queue->mutex);
    bool done = queue->head < queue->tail;
    if (done) *value = queue->values[queue->head++ % CAPACITY];
    pthread_mutex_unlock(&queue->mutex);
    return done;
}

// .model is what it promises: "fifo" (without it); "fifo-per-producer" if it keeps no order between
// producers; "pool" if it keeps none at all. Options follow a colon: "fifo:empty=lone".
// Also possible: .enqueue_bulk, .dequeue_bulk, .one_producer = true, .one_consumer = true.
// What each thread needs for itself (a token, a session) is a _Thread_local variable,
// which .enter sets.
INTERLAP_QUEUE(struct queue, .create = queue_new, .destroy = queue_free, .enqueue = enqueue,
               .dequeue = dequeue, .capacity = CAPACITY, .model = "fifo")
