// NAME: a stack under test. (These first lines are shown by `interlap targets`; say what it is.)
//
// Guarantee: linearizable LIFO stack.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.c                    look for calls that no order explains
#include <interlap_c.h>

// Replace from here: the structure that you want to test, or the header that has it.
#include <pthread.h>

enum { CAPACITY = 1024 };
struct stack {
    pthread_mutex_t mutex;
    int64_t values[CAPACITY];
    size_t count;
};

static struct stack *stack_new(void) {
    struct stack *stack = calloc(1, sizeof *stack);
    pthread_mutex_init(&stack->mutex, NULL);
    return stack;
}
static void stack_free(struct stack *stack) { free(stack); }

static bool push(struct stack *stack, int64_t value) { // false: full
    pthread_mutex_lock(&stack->mutex);
    bool done = stack->count < CAPACITY;
    if (done) stack->values[stack->count++] = value;
    pthread_mutex_unlock(&stack->mutex);
    return done;
}
static bool pop(struct stack *stack, int64_t *value) { // false: empty
    pthread_mutex_lock(&stack->mutex);
    bool done = stack->count > 0;
    if (done) *value = stack->values[--stack->count];
    pthread_mutex_unlock(&stack->mutex);
    return done;
}

// .model is what it promises: "lifo" (without it). "lifo:empty=lone": its "empty" may be wrong
// while another call takes something.
// What each thread needs for itself (a list of free nodes) is a _Thread_local variable,
// which .enter sets.
INTERLAP_STACK(struct stack, .create = stack_new, .destroy = stack_free, .push = push, .pop = pop,
               .capacity = CAPACITY, .model = "lifo")
