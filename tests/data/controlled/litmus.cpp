// Small programs, drawn by the seed: each thread's first call runs one. When all is over, what they
// loaded is held against x86-TSO (Sewell et al., CACM 2010, section 3.2), of which every order of
// instructions and of stores that leave their buffers is tried. Controlled: clean; with
// -DSEQUENTIAL, where buffers hold nothing, a failed assertion wherever stores wait.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstring>

enum Kind { STORE, STORE_SC, LOAD, EXCHANGE, REPLACE, FENCE, ACQUIRE, KINDS };

struct Instruction {
    Kind kind;
    int at; // where in memory, in bytes
    int size;
    uint64_t value;
};

static constexpr int threads_max = 4, length_max = 4, bytes = 16;

struct Program {
    Instruction code[length_max];
    int length = 0;
};

// What a program saw: what was there before an exchange or a load.
struct Seen {
    uint64_t values[length_max] = {};
};

// Any state of the machine from which `wanted` can still come about.
struct Machine {
    struct Waiting {
        int at, size;
        uint64_t value;
    };
    const Program *programs;
    const Seen *wanted;
    const unsigned char *last;
    unsigned char memory[bytes] = {};
    int next[threads_max] = {};
    Waiting buffers[threads_max][length_max];
    int waiting[threads_max] = {};

    uint64_t load(int at, int size) const {
        uint64_t value = 0;
        memcpy(&value, memory + at, size);
        return value;
    }
    void store(int at, int size, uint64_t value) { memcpy(memory + at, &value, size); }

    bool can_end() const {
        bool over = true;
        for (int t = 0; t < threads_max; t++) {
            over &= next[t] == programs[t].length && !waiting[t];
            if (waiting[t]) {
                Machine after = *this;
                after.drain(t);
                if (after.can_end()) return true;
            }
            Machine after = *this;
            if (next[t] < programs[t].length && after.step(t) && after.can_end()) return true;
        }
        return over && !memcmp(memory, last, bytes);
    }

    void drain(int t) {
        store(buffers[t][0].at, buffers[t][0].size, buffers[t][0].value);
        waiting[t]--;
        memmove(buffers[t], buffers[t] + 1, waiting[t] * sizeof(Waiting));
    }

    // Whether the thread can go on now, seeing what it saw.
    bool step(int t) {
        const Instruction &i = programs[t].code[next[t]];
        uint64_t seen = wanted[t].values[next[t]++], there = load(i.at, i.size);
        switch (i.kind) {
        case STORE:
#ifdef SEQUENTIAL
            store(i.at, i.size, i.value);
#else
            buffers[t][waiting[t]++] = {i.at, i.size, i.value};
#endif
            return true;
        case LOAD:
            for (int n = waiting[t]; n-- > 0;) {
                const Waiting &own = buffers[t][n];
                if (own.at == i.at && own.size == i.size) return own.value == seen;
                // A part of it: not before all of it is in memory.
                if (own.at < i.at + i.size && i.at < own.at + own.size) return false;
            }
            return there == seen;
        case EXCHANGE:
        case REPLACE:
            if (i.kind == EXCHANGE || there == 0) store(i.at, i.size, i.value);
            return !waiting[t] && there == seen;
        case STORE_SC:
            store(i.at, i.size, i.value);
            return !waiting[t];
        case FENCE:
            return !waiting[t];
        default:
            return true;
        }
    }
};

struct Litmus {
    alignas(16) unsigned char memory[bytes] = {};
    std::atomic<int64_t> sum{0};
    Program programs[threads_max];
    Seen seen[threads_max];
    bool ran[threads_max] = {};

    explicit Litmus(const interlap::config &config) {
        uint64_t random = config.seed;
        auto below = [&](uint64_t n) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            return (random >> 33) % n;
        };
        // There are many orders of long ones.
        int threads = 2 + below(3);
        for (int t = 0; t < threads; t++) {
            programs[t].length = threads == 4 ? 1 + t / 2 : threads == 3 ? 1 + below(2) : 2 + below(3);
            for (int n = 0; n < programs[t].length; n++) {
                Kind kind = below(3) ? (below(2) ? STORE : LOAD) : Kind(below(KINDS));
                bool whole = below(4);
                int at = 8 * below(2) + (whole ? 0 : 4 * below(2));
                programs[t].code[n] = {kind, at, whole ? 8 : 4, uint64_t(1 + t * length_max + n)};
            }
        }
    }

    template <class T> uint64_t run(const Instruction &i) {
        T *at = reinterpret_cast<T *>(memory + i.at), expected = 0;
        switch (i.kind) {
        case STORE: __atomic_store_n(at, i.value, __ATOMIC_RELEASE); return 0;
        case STORE_SC: __atomic_store_n(at, i.value, __ATOMIC_SEQ_CST); return 0;
        case LOAD: return __atomic_load_n(at, __ATOMIC_ACQUIRE);
        case EXCHANGE: return __atomic_exchange_n(at, i.value, __ATOMIC_RELAXED);
        case REPLACE:
            __atomic_compare_exchange_n(at, &expected, i.value, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
            return expected;
        case FENCE: std::atomic_thread_fence(std::memory_order_seq_cst); return 0;
        default: std::atomic_thread_fence(std::memory_order_acq_rel); return 0;
        }
    }

    struct Local {
        unsigned thread;
        Local(Litmus &, unsigned thread) : thread(thread) {}
    };
    void add(Local &local, int64_t amount) {
        if (local.thread < threads_max && !ran[local.thread]) {
            ran[local.thread] = true;
            const Program &program = programs[local.thread];
            Seen own;
            for (int n = 0; n < program.length; n++) {
                const Instruction &i = program.code[n];
                own.values[n] = i.size == 8 ? run<uint64_t>(i) : run<uint32_t>(i);
            }
            seen[local.thread] = own;
        }
        sum.fetch_add(amount);
    }
    int64_t read() { return sum.load(); }

    ~Litmus() {
        for (int t = 0; t < threads_max; t++)
            if (!ran[t]) programs[t].length = 0;
        Machine machine{programs, seen, memory};
        assert(machine.can_end() && "seen in no order");
    }
};
INTERLAP_TARGET(Litmus)
