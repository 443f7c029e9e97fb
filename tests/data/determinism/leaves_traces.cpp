// Leaves something in the C library in every round: its buffers, its list of functions to call at
// exit, its last error. None of it may lie in memory that the next round takes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <interlap.hpp>
#include <mutex>

template <int N> struct Static {
    int value = N;
    ~Static() { value = 0; }
};

template <int N> int make() {
    static Static<N> object;
    if constexpr (N > 0) return object.value + make<N - 1>();
    return object.value;
}

struct Target {
    static constexpr auto model = "set";
    std::mutex mutex;
    bool present[1024] = {};
    char *name = nullptr;
    char *filled = nullptr;

    explicit Target(const interlap::config &config) {
        // In every other round, the first memory is the target's.
        if (config.round % 2) fill();
        // More than the C library has room for without asking for memory.
        if (make<40>() != 820) abort();
        if (dlopen("libthat-is-nowhere.so", RTLD_NOW)) abort();
        if (!dlopen(nullptr, RTLD_NOW)) abort();
        printf("a round begins\n");
        if (!filled) fill();
        name = strdup("a name that is the target's own");
    }
    void fill() {
        filled = static_cast<char *>(malloc(1 << 14));
        memset(filled, 'x', 1 << 14);
    }
    ~Target() {
        if (strcmp(name, "a name that is the target's own")) abort();
        for (size_t i = 0; i < 1 << 14; i++)
            if (filled[i] != 'x') abort();
        free(name);
        free(filled);
    }
    bool insert(int64_t key) {
        std::lock_guard<std::mutex> guard(mutex);
        bool inserted = !present[key];
        present[key] = true;
        return inserted;
    }
    bool remove(int64_t key) {
        std::lock_guard<std::mutex> guard(mutex);
        bool removed = present[key];
        present[key] = false;
        return removed;
    }
};
INTERLAP_TARGET(Target)
