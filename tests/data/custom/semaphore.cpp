// A semaphore whose threads wait for permits. WRONG: of two releases in a row only the first wakes
// a thread that waits.
#include <condition_variable>
#include <interlap_operations.hpp>
#include <mutex>
class Semaphore {
    std::mutex mutex;
    std::condition_variable more;
    int permits = 1;

  public:
    void acquire() {
        std::unique_lock<std::mutex> guard(mutex);
        while (permits == 0)
            more.wait(guard);
        permits--;
    }
    bool try_acquire() {
        std::lock_guard<std::mutex> guard(mutex);
        if (permits == 0) return false;
        permits--;
        return true;
    }
    void release() {
        std::lock_guard<std::mutex> guard(mutex);
#ifdef WRONG
        if (permits++ == 0) more.notify_one();
#else
        permits++;
        more.notify_one();
#endif
    }
};
INTERLAP_OPERATIONS(Semaphore, acquire, try_acquire, release)
