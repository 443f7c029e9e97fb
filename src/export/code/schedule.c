// Makes threads run one at a time, in the order that `turns` lists. The library is compiled with
// -fsanitize=thread, so that it calls a function __tsan_... at each access to memory, but it is not
// linked with ThreadSanitizer: hooks.c has these functions. A thread goes on until it is about to do
// what its turn ends at (its call number `call`, the `count`-th `act` of that size there); then the
// thread of the next turn does. Counts begin anew with each call, so that changes of the library
// elsewhere do not move a turn's end.
//
// Besides: malloc hands out freed memory at once, or never again, and accesses to freed memory are
// noticed; stores that `held` lists stay in a store buffer, as on x86, until a turn DRAIN; accesses
// that `older` lists meet an older store of their location than the newest, as C++ allows.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>

void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);

// ---- Turns.

enum act {
    CALL, LOAD, STORE, EXCHANGE, SWAP, FENCE, READ, WRITE, ALLOCATE, FREE, ACQUIRE, RELEASE, WAIT,
    WAKE, ASK, ANY, DRAIN, DONE, ACTS
};
struct turn {
    int thread, call;
    enum act act;
    int size, count;
};
struct held {
    int thread, call, size, count;
};
struct older {
    int thread, call;
    enum act act;
    int size, count, newer;
};
static const struct turn turns[];
static const struct held held[];
static const struct older older[];
static const int turn_count, held_count, older_count, reuses_memory;
static const char *const wrong_use; // of memory, that the finding is about; "" for none

static int out_of_order; // calls did not follow each other as in the finding: answers prove nothing

enum { BUFFER = 32 };
struct waiting_store {
    volatile void *at;
    uint64_t value;
    size_t size;
};
// What there is of each thread.
static struct own {
    int thread, call, id; // `id` is the kernel's
    volatile long steps;
    int counts[ACTS][6];
    const char *stack_end, *stack;
    const void *volatile waits_for;
    struct waiting_store buffer[BUFFER];
    int buffered;
} threads[THREADS];
static __thread struct own *own; // NULL: not one of them
// Volatile: a compiler may otherwise keep what another thread changes in a register.
static volatile int now, is_free, lost = -1;
static int changes, stuck_seconds = 4;

// The end of the process, without waiting for anybody.
static void say_and_exit(const char *what, int status) {
    if (write(1, what, strlen(what)) < 0 || write(1, "\n", 1) < 0) status = 2;
    _exit(status);
}
// What the C library does where it is not called from here.
static long kernel(long number, void *word, long act, long value, const void *time) {
    static long (*real)(long, ...);
    if (real == NULL) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, word, act, value, time, NULL, 0);
}

static int size_class(size_t size) {
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : size == 16 ? 4 : 5;
}
static void look_at(int *word, int value) {
    struct timespec most = {0, 100000000};
    kernel(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &most);
}
static void tell_all(void) {
    __atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST);
    kernel(SYS_futex, &changes, FUTEX_WAKE_PRIVATE, THREADS + 1, NULL);
}
static int turn_of(int thread) {
    int at = __atomic_load_n(&now, __ATOMIC_SEQ_CST);
    return at >= turn_count || __atomic_load_n(&is_free, __ATOMIC_SEQ_CST) ||
           turns[at].thread == thread;
}
static void get_lost(void) {
    if (lost < 0) lost = now;
}

// Waits until it is this thread's turn, and until it is woken if it waits for that. A turn that
// takes too long goes another way than in the finding: from then on all threads run at once.
static void await_turn(void) {
    int before = -1;
    double since = 0;
    for (;;) {
        int seen = __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
        int at = __atomic_load_n(&now, __ATOMIC_SEQ_CST);
        if (turn_of(own->thread) && own->waits_for == NULL) return;
        if (at != before) before = at, since = seconds();
        if (seconds() > since + stuck_seconds && at < turn_count && !is_free) {
            get_lost();
            __atomic_store_n(&is_free, 1, __ATOMIC_SEQ_CST);
            tell_all();
        }
        look_at(&changes, seen);
    }
}

static void put_in_memory(const struct waiting_store *store) {
    switch (store->size) {
    case 1: *(volatile uint8_t *)store->at = (uint8_t)store->value; break;
    case 2: *(volatile uint16_t *)store->at = (uint16_t)store->value; break;
    case 4: *(volatile uint32_t *)store->at = (uint32_t)store->value; break;
    default: *(volatile uint64_t *)store->at = store->value;
    }
}
static void drain(struct own *of) {
    for (int at = 0; at < of->buffered; at++) put_in_memory(&of->buffer[at]);
    of->buffered = 0;
}

// The turn ends: that of the next thread begins.
static void next_turn(void) {
    int next = now + 1;
    for (; next < turn_count && turns[next].act == DRAIN; next++)
        drain(&threads[turns[next].thread]);
    __atomic_store_n(&now, next, __ATOMIC_SEQ_CST);
    tell_all();
}

// What this thread is about to do.
static void about_to(enum act act, size_t size) {
    if (own == NULL) return;
    own->steps++;
    int class = size_class(size), count = ++own->counts[act][class];
    int all = own->counts[ANY][5] += act != ASK;
    if (act == ASK) count = own->counts[WAIT][5] + 1; // to wait, if there is reason to
    if (is_free || now >= turn_count) return;
    const struct turn *turn = &turns[now];
    if (turn->thread != own->thread || turn->call != own->call) return;
    int is_size = size_class((size_t)turn->size) == class;
    int is_here = turn->act == act && is_size && turn->count == count;
    if (!is_here && !(turn->act == ANY && turn->count == all)) return;
    next_turn();
    if (act != WAIT) await_turn();
}

// This thread's call number `call` is about to begin. Turns that ended in calls before were not
// noticed: those went another way.
static void next_call(int call) {
    for (; !is_free && now < turn_count && turns[now].thread == own->thread; await_turn()) {
        const struct turn *turn = &turns[now];
        int is_this = turn->call == call && turn->act == CALL;
        if (!is_this && (turn->call >= call || turn->act == DONE)) break;
        if (!is_this) get_lost();
        next_turn();
    }
    own->call = call;
    __real_memset(own->counts, 0, sizeof own->counts);
}
static void begin_thread(int thread, void *stack_end) {
    pthread_attr_t attributes;
    void *stack;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
    threads[thread].thread = thread;
    threads[thread].id = gettid();
    threads[thread].stack = stack;
    threads[thread].stack_end = stack_end;
    own = &threads[thread];
    await_turn();
}
static inline __attribute__((always_inline)) void ready(int thread) {
    begin_thread(thread, __builtin_frame_address(0));
}
static void done(void) {
    for (; !is_free && now < turn_count && turns[now].thread == own->thread; await_turn()) {
        if (turns[now].act != DONE) get_lost();
        int is_last = 1;
        for (int at = now + 1; at < turn_count; at++) is_last &= turns[at].thread != own->thread;
        next_turn();
        if (is_last) break;
    }
    own = NULL;
}
static void has_returned(int thread) { returned[thread]++; }
// In the finding that thread had returned from so many calls.
__attribute__((unused)) static void after(int thread, int calls) {
    if (returned[thread] < calls) out_of_order = 1;
}

// Whether the thread with this number waits for another thread without a limit of time: for one to
// wake it here, or in the kernel, in a futex. No where that cannot be read.
static int waits_for_ever(int id) {
    for (int thread = 0; thread < THREADS; thread++)
        if (threads[thread].id == id && threads[thread].waits_for != NULL) return 1;
    char name[64];
    snprintf(name, sizeof name, "/proc/self/task/%d/syscall", id);
    FILE *file = fopen(name, "r");
    if (file == NULL) return 0;
    unsigned long number = 0, limit = 1;
    int read = fscanf(file, "%lu %*x %*x %*x %lx", &number, &limit);
    fclose(file);
    return read == 2 && number == SYS_futex && limit == 0;
}
// Whether all threads of the process do, but the one that asks.
static int all_wait_for_ever(void) {
    DIR *tasks = opendir("/proc/self/task");
    int are_waiting = tasks != NULL;
    for (struct dirent *task; are_waiting && (task = readdir(tasks)) != NULL;) {
        int id = atoi(task->d_name);
        are_waiting = id == 0 || id == gettid() || waits_for_ever(id);
    }
    if (tasks != NULL) closedir(tasks);
    return are_waiting;
}
// Waits for the end of a thread. Where all threads have waited for each other for a quarter of
// `hang_seconds` after the last turn, none of them returns.
static void join(pthread_t thread) {
    long before = -1;
    for (int quiet = 0; quiet < hang_seconds * 5 / 2;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
        if (pthread_timedjoin_np(thread, NULL, &until) == 0) return;
        long steps = 0;
        for (int at = 0; at < THREADS; at++) steps += threads[at].steps;
        int is_quiet = steps == before && (now >= turn_count || is_free) && all_wait_for_ever();
        quiet = is_quiet ? quiet + 1 : 0;
        before = steps;
    }
    fflush(stdout);
    say_and_exit(HANGS, status_of_hang);
}

// ---- Memory: an arena of 1 GiB, with a byte of shadow for each 16 bytes.

enum { NOTHING, ALLOCATED, FREED, PARTLY = 0x10 };
static const size_t arena_size = (size_t)1 << 30;
static char *arena, *arena_end;
static uint8_t *shadow;
static int heap_lock;
static struct block {
    size_t size, room;
    struct block *next;
} *unused[128] = {NULL};

static void wrong(const char *what) {
    printf("REPRODUCED: %s", what);
    if (own != NULL) printf(", by thread %d in its call %d", own->thread, own->call);
    fflush(stdout);
    say_and_exit("", 1);
}
static int is_bad_byte(size_t at) {
    uint8_t state = shadow[at >> 4];
    return state != ALLOCATED && (state < PARTLY || (at & 15) >= (state & 15u));
}
static void look_after(const volatile void *at, size_t size) {
    size_t offset = (size_t)((const char *)at - arena);
    if (arena == NULL || offset >= arena_size || size == 0) return;
    if (!is_bad_byte(offset) && !is_bad_byte(offset + size - 1)) return;
    const char *what = shadow[offset >> 4] == FREED ? "use-after-free" : "out-of-bounds";
    if (strcmp(wrong_use, what) == 0) wrong(what);
}

static size_t room_of(size_t size, int *list) {
    size_t room = size == 0 ? 16 : (size + 15) / 16 * 16;
    *list = (int)(room / 16);
    if (room <= 512) return room;
    for (room = 1024, *list = 33; room < size; room *= 2) ++*list;
    return room;
}
static void lock_heap(void) {
    while (__atomic_exchange_n(&heap_lock, 1, __ATOMIC_SEQ_CST)) sched_yield();
    if (arena != NULL) return;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    shadow = mmap(NULL, arena_size / 16, PROT_READ | PROT_WRITE, flags, -1, 0);
    arena = arena_end = mmap(NULL, arena_size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (shadow == MAP_FAILED || arena == MAP_FAILED) abort();
}
static void unlock_heap(void) { __atomic_store_n(&heap_lock, 0, __ATOMIC_SEQ_CST); }

static void *take(size_t size, size_t alignment) {
    int list;
    size_t room = room_of(size, &list);
    if (size > arena_size / 4 || alignment > arena_size / 4) return errno = ENOMEM, (void *)0;
    if (alignment < 16) alignment = 16;
    about_to(ALLOCATE, 0);
    if (own != NULL) drain(own);
    lock_heap();
    char *memory = (char *)(unused[list] == NULL ? NULL : unused[list] + 1);
    if (memory != NULL && alignment == 16) {
        unused[list] = unused[list]->next;
    } else {
        uintptr_t from = (uintptr_t)arena_end + sizeof(struct block) + alignment - 1;
        memory = (char *)(from / alignment * alignment);
        if (memory + room > arena + arena_size) abort();
        arena_end = memory + room;
    }
    struct block *block = (struct block *)memory - 1;
    block->size = size, block->room = room;
    __real_memset(shadow + (memory - arena) / 16, ALLOCATED, (size + 15) / 16);
    if (size % 16 != 0) shadow[(size_t)(memory - arena + (long)size) >> 4] = PARTLY | size % 16;
    __real_memset(memory, 0xa5, room); // so that the same is there each time
    unlock_heap();
    return memory;
}
void free(void *memory) {
    size_t offset = (size_t)((char *)memory - arena);
    if (memory == NULL || offset >= arena_size) return;
    about_to(FREE, 0);
    if (own != NULL) drain(own);
    struct block *block = (struct block *)memory - 1;
    const char *what = shadow[offset >> 4] == FREED ? "double-free" : "bad-free";
    if ((shadow[offset >> 4] == FREED || shadow[offset >> 4] == NOTHING) && wrong_use[0] != 0)
        if (strcmp(wrong_use, what) == 0) wrong(what);
    if (shadow[offset >> 4] == FREED) {
        fputs("free(): double free detected\n", stderr);
        abort();
    }
    int list;
    lock_heap();
    __real_memset(shadow + (offset >> 4), FREED, block->room / 16);
    room_of(block->room, &list);
    if (reuses_memory) block->next = unused[list], unused[list] = block;
    unlock_heap();
}
void *malloc(size_t size) { return take(size, 16); }
void *calloc(size_t count, size_t size) {
    if (size != 0 && count > arena_size / size) return errno = ENOMEM, (void *)0;
    void *memory = take(count * size, 16);
    return memory == NULL ? NULL : __real_memset(memory, 0, count * size);
}
void *realloc(void *memory, size_t size) {
    void *other = take(size, 16);
    if (memory == NULL || other == NULL) return other;
    size_t before = ((struct block *)memory - 1)->size;
    __real_memcpy(other, memory, before < size ? before : size);
    free(memory);
    return other;
}
void *memalign(size_t alignment, size_t size) { return take(size, alignment); }
void *aligned_alloc(size_t alignment, size_t size) { return take(size, alignment); }
int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = take(size, alignment);
    return *memory == NULL ? ENOMEM : 0;
}
size_t malloc_usable_size(void *memory) {
    return memory == NULL ? 0 : ((struct block *)memory - 1)->size;
}

// ---- Accesses.

// What stores of the threads have overwritten: for each location its earlier stores, in the order
// that they have in C++.
static struct waiting_store *overwritten;
static int overwritten_count;

static uint64_t in_memory(const volatile void *at, size_t size) {
    switch (size) {
    case 1: return *(const volatile uint8_t *)at;
    case 2: return *(const volatile uint16_t *)at;
    case 4: return *(const volatile uint32_t *)at;
    default: return *(const volatile uint64_t *)at;
    }
}
static void insert_overwritten(int place, const struct waiting_store *store) {
    enum { MOST = 1 << 18 };
    if (overwritten == NULL) {
        size_t room = MOST * sizeof *overwritten;
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        overwritten = mmap(NULL, room, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (overwritten == MAP_FAILED) abort();
    }
    if (overwritten_count == MOST) return get_lost();
    struct waiting_store *to = overwritten + place;
    __real_memmove(to + 1, to, (size_t)(overwritten_count++ - place) * sizeof *to);
    *to = *store;
}
// A store overwrites this value.
static void overwrite(const volatile void *at, size_t size, uint64_t value) {
    if (older_count == 0 || own == NULL || size > 8) return;
    struct waiting_store before = {(volatile void *)at, value, size};
    insert_overwritten(overwritten_count, &before);
}
// How many stores are newer than the one that this access meets; -1: what memory has decides.
static int newer_than(size_t size, enum act act) {
    if (own == NULL || is_free) return -1;
    for (int place = 0; place < older_count; place++)
        if (older[place].thread == own->thread && older[place].call == own->call &&
            older[place].act == act && (size_t)older[place].size == size &&
            older[place].count == own->counts[act][size_class(size)])
            return older[place].newer;
    return -1;
}
// Where that store is among the overwritten ones; -1: there are not so many.
static int place_behind(const volatile void *at, size_t size, int newer) {
    int place = overwritten_count;
    while (newer > 0 && --place >= 0)
        newer -= overwritten[place].at == at && overwritten[place].size == size;
    if (place < 0) get_lost();
    return place;
}
// Its value, of a store that is newer than others.
static uint64_t value_behind(const volatile void *at, size_t size, int newer) {
    int place = place_behind(at, size, newer);
    return place < 0 ? in_memory(at, size) : overwritten[place].value;
}
// A store right behind it: memory keeps the newest value.
static void store_behind(volatile void *at, size_t size, int newer, uint64_t value) {
    struct waiting_store store = {at, value, size};
    int place = place_behind(at, size, newer);
    if (place >= 0) insert_overwritten(place + 1, &store);
}

// Stacks are nobody else's.
static int is_on_stack(const volatile void *at) {
    const volatile char *byte = at;
    if (own == NULL) return 0;
    for (int thread = 0; thread < THREADS; thread++)
        if (threads[thread].stack <= byte && byte < threads[thread].stack_end) return 1;
    return 0;
}
static void plain(const volatile void *at, size_t size, enum act act) {
    if (is_on_stack(at)) return;
    about_to(act, size);
    if (own != NULL && own->buffered > 0) drain(own);
    look_after(at, size);
    if (act == WRITE && older_count > 0 && size <= 8) overwrite(at, size, in_memory(at, size));
}
static void atomic(const volatile void *at, size_t size, enum act act) {
    if (is_on_stack(at)) return;
    about_to(act, size);
    if (own != NULL && ((act != LOAD && act != STORE) || size == 16)) drain(own);
    look_after(at, size);
}
// Whether a store waits in the thread's buffer.
static int waits(volatile void *at, size_t size, uint64_t value, int order) {
    if (own == NULL || is_free) return 0;
    int is_held = own->buffered > 0;
    for (int place = 0; place < held_count; place++)
        is_held |= held[place].thread == own->thread && held[place].call == own->call &&
                   (size_t)held[place].size == size &&
                   held[place].count == own->counts[STORE][size_class(size)];
    if (!is_held) return 0;
    if (order == __ATOMIC_SEQ_CST || own->buffered == BUFFER) return drain(own), 0;
    own->buffer[own->buffered++] = (struct waiting_store){at, value, size};
    return 1;
}
// The newest value of this thread's own that waits.
static int is_own(const volatile void *at, size_t size, uint64_t *value) {
    for (int place = own == NULL ? 0 : own->buffered; place-- > 0;) {
        const struct waiting_store *store = &own->buffer[place];
        if (store->at == at && store->size == size) return *value = store->value, 1;
        const char *from = (const char *)store->at, *to = (const char *)at;
        if (from < to + size && to < from + store->size) return drain(own), 0;
    }
    return 0;
}

static void fence(int order) {
    about_to(FENCE, 0);
    if (own != NULL && order == __ATOMIC_SEQ_CST) drain(own);
}
#define HAVE_TURNS
#include "hooks.c"

// The linker is told to call these instead (--wrap).
void *__wrap_memcpy(void *to, const void *from, size_t size) {
    plain(from, size, READ), plain(to, size, WRITE);
    return __real_memcpy(to, from, size);
}
void *__wrap_memmove(void *to, const void *from, size_t size) {
    plain(from, size, READ), plain(to, size, WRITE);
    return __real_memmove(to, from, size);
}
void *__wrap_memset(void *to, int value, size_t size) {
    plain(to, size, WRITE);
    return __real_memset(to, value, size);
}

// ---- Locks, and what waits. A lock is asked for when its turn comes; the lock itself is real.

#define REAL(NAME, ...)                                                                            \
    static int (*real)(__VA_ARGS__);                                                               \
    if (real == NULL) real = (int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, NAME);                         \
    if (own != NULL) drain(own);
#define ASKS(NAME, TYPE)                                                                           \
    int NAME(TYPE *lock) {                                                                         \
        REAL(#NAME, TYPE *)                                                                        \
        about_to(ACQUIRE, 0);                                                                      \
        return real(lock);                                                                         \
    }
#define GIVES_BACK(NAME, TYPE)                                                                     \
    int NAME(TYPE *lock) {                                                                         \
        REAL(#NAME, TYPE *)                                                                        \
        about_to(ACQUIRE, 0);                                                                      \
        about_to(RELEASE, 0);                                                                      \
        return real(lock);                                                                         \
    }
ASKS(pthread_mutex_lock, pthread_mutex_t)
ASKS(pthread_mutex_trylock, pthread_mutex_t)
GIVES_BACK(pthread_mutex_unlock, pthread_mutex_t)
ASKS(pthread_rwlock_rdlock, pthread_rwlock_t)
ASKS(pthread_rwlock_wrlock, pthread_rwlock_t)
ASKS(pthread_rwlock_tryrdlock, pthread_rwlock_t)
ASKS(pthread_rwlock_trywrlock, pthread_rwlock_t)
GIVES_BACK(pthread_rwlock_unlock, pthread_rwlock_t)
ASKS(sem_wait, sem_t)
ASKS(sem_trywait, sem_t)
GIVES_BACK(sem_post, sem_t)

// Waits until another thread wakes those that wait for this.
static void wait_for(const void *what) {
    own->waits_for = what;
    about_to(WAIT, 0);
    await_turn();
}
static int wake(const void *what, int most) {
    int woken = 0;
    about_to(WAKE, 0);
    for (int thread = 0; thread < THREADS && woken < most; thread++)
        if (threads[thread].waits_for == what) threads[thread].waits_for = NULL, woken++;
    tell_all();
    return woken;
}
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    REAL("pthread_cond_wait", pthread_cond_t *, pthread_mutex_t *)
    if (own == NULL) return real(condition, mutex);
    struct own *me = own;
    about_to(ASK, 0);
    about_to(RELEASE, 0);
    me->waits_for = condition;
    own = NULL; // the mutex is let go of without a turn of its own
    pthread_mutex_unlock(mutex);
    own = me;
    about_to(WAIT, 0);
    await_turn();
    own = NULL;
    pthread_mutex_lock(mutex);
    own = me;
    return 0;
}
int pthread_cond_signal(pthread_cond_t *condition) {
    REAL("pthread_cond_signal", pthread_cond_t *)
    wake(condition, 1);
    return real(condition);
}
int pthread_cond_broadcast(pthread_cond_t *condition) {
    REAL("pthread_cond_broadcast", pthread_cond_t *)
    wake(condition, THREADS);
    return real(condition);
}
long syscall(long number, ...) {
    long word[6];
    va_list list;
    va_start(list, number);
    for (int at = 0; at < 6; at++) word[at] = va_arg(list, long);
    va_end(list);
    int *of = (int *)word[0], act = number == SYS_futex ? (int)word[1] & FUTEX_CMD_MASK : -1;
    int is_wake = act == FUTEX_WAKE || act == FUTEX_WAKE_BITSET;
    if (own != NULL) drain(own);
    if (own == NULL || (!is_wake && act != FUTEX_WAIT && act != FUTEX_WAIT_BITSET)) {
        static long (*real)(long, ...);
        if (real == NULL) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
        return real(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    }
    if (is_wake) return wake(of, (int)word[2]);
    about_to(ASK, 0);
    if (__atomic_load_n(of, __ATOMIC_SEQ_CST) != (int)word[2]) return errno = EAGAIN, -1;
    wait_for(of);
    return 0;
}
