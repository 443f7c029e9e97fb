// A stack whose only access that others see is an instruction of its own: the engine is blind.
#include <interlap.hpp>

#include <cstddef>

struct Stack {
    static constexpr size_t room = 1 << 14;
    int64_t values[room];
    size_t count = 0;
    unsigned char held = 0;

    void lock() {
        unsigned char taken;
        do {
            taken = 1;
            asm volatile("xchgb %0, %1" : "+q"(taken), "+m"(held)::"memory");
        } while (taken != 0);
    }
    void unlock() { asm volatile("movb $0, %0" : "=m"(held)::"memory"); }
    bool push(int64_t value) {
        lock();
        bool done = count < room;
        if (done) values[count++] = value;
        unlock();
        return done;
    }
    bool pop(int64_t &value) {
        lock();
        bool done = count > 0;
        if (done) value = values[--count];
        unlock();
        return done;
    }
};
INTERLAP_TARGET(Stack)
