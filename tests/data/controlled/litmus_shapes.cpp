// What x86 processors show and no order of the instructions explains, in the shape that -DSHAPE
// says. Controlled: clean under sequential consistency; with store buffers each shape is seen, and
// an assertion with its name fails. Sources: Owens, Sarkar, Sewell: A Better x86 Memory Model: x86-TSO (TPHOLs 2009),
// sections 2 and 3; the last needs a buffer of which only the oldest store has left.
#include <interlap.hpp>

#include <atomic>
#include <cassert>

struct Shapes {
    std::atomic<int> x{0}, y{0}, z{0};
    std::atomic<int64_t> sum{0};
    int a = 0, b = 0, c = 0, d = 0, e = 0;
    bool ran[3] = {};
    static constexpr int shape = SHAPE;

    static void set(std::atomic<int> &at, int value) {
        at.store(value, std::memory_order_release);
    }
    static int get(std::atomic<int> &at) { return at.load(std::memory_order_acquire); }

    void first() {
        int one = 0, other = 0;
        set(x, 1);
        if (shape == 2 || shape == 5) set(y, 1);
        if (shape == 1 || shape == 3) one = get(x);
        if (shape < 2 || shape == 3) other = get(y);
        if (shape == 5) other = get(z);
        a = one, b = other;
    }
    void second() {
        int one = 0, other = 0;
        if (shape == 4) {
            one = get(x), other = get(y);
        } else if (shape == 5) {
            z.store(1, std::memory_order_seq_cst);
            one = get(x), other = get(y);
        } else {
            set(y, shape == 2 || shape == 3 ? 2 : 1);
            if (shape == 3) set(x, 2);
            if (shape == 1) one = get(y);
            if (shape != 3) other = get(x);
        }
        c = one, d = other;
    }
    void third() {
        if (shape != 4) return;
        set(y, 1);
        int seen = get(x);
        e = seen;
    }

    struct Local {
        unsigned thread;
        Local(Shapes &, unsigned thread) : thread(thread) {}
    };
    void add(Local &local, int64_t amount) {
        if (local.thread < 3 && !ran[local.thread]) {
            ran[local.thread] = true;
            local.thread == 0 ? first() : local.thread == 1 ? second() : third();
        }
        sum.fetch_add(amount);
    }
    int64_t read() { return sum.load(); }

    ~Shapes() {
        if (!ran[0] || !ran[1] || (shape == 4 && !ran[2])) return;
        switch (shape) {
        case 0: assert(b || d || !"store buffering"); break;
        case 1: assert(!(a == 1 && c == 1 && b == 0 && d == 0) || !"own stores first"); break;
        case 2: assert(!(y == 2 && d == 0) || !"a store overtaken by a load"); break;
        case 3: assert(!(a == 1 && b == 0 && x == 1) || !"n6"); break;
        case 4: assert(!(c == 1 && d == 0 && e == 0) || !"read to write causality"); break;
        case 5: assert(!(b == 0 && c == 1 && d == 0) || !"one of two stores"); break;
        }
    }
};
INTERLAP_TARGET(Shapes)
