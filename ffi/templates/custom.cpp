// NAME: a structure under test. (These first lines are shown by `interlap targets`; say what it
// is.)
//
// Guarantee: each method takes effect at one instant of its call.
// Source: (say which document promises it)
//
//     interlap fuzz NAME.cpp                  look for calls that no order explains
#include <interlap_operations.hpp>

// Replace from here: the class that you want to test, or the header that has it.
#include <mutex>

// A few permits.
class Semaphore {
    std::mutex mutex;
    int permits = 2;

  public:
    bool try_acquire() {
        std::lock_guard<std::mutex> guard(mutex);
        if (permits == 0) return false;
        permits--;
        return true;
    }
    void release() {
        std::lock_guard<std::mutex> guard(mutex);
        permits++;
    }
    int available() {
        std::lock_guard<std::mutex> guard(mutex);
        return permits;
    }
};

// The methods that threads call, with arguments and results of most types
// (interlap_operations.hpp lists them). No model is needed: answers are right if the structure,
// called by one thread at a time in some order, gives the same. Methods may wait for each other.
//
// Where they are those of a family (push, pop, size; insert, remove, contains; get, put), its model
// judges many more rounds: interlap fuzz NAME.cpp --model lifo
//
// What must not be called as it is drawn goes into a class of your own around yours, with
// interlap::skip(), and a `struct Local { Local(Target &, unsigned thread); };` for what each
// thread needs for itself.
INTERLAP_OPERATIONS(Semaphore, try_acquire, release, available)
