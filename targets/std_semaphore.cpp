// std::counting_semaphore of libstdc++ with two permits, around a stack: found to sleep for ever.
//
// In GCC 12 _M_acquire (bits/semaphore_base.h) tries to take a permit by one compare-exchange. One
// that fails because another thread took a permit first counts as "none left", and the wait that
// follows (__atomic_wait_address_bare) takes whatever the counter is then for the value to wait
// for: 1, if a permit has come back meanwhile. _M_release wakes nobody unless the counter was 0, so
// the thread sleeps although there are permits, and nothing ever wakes it. To see it:
// interlap fuzz std_semaphore --engine controlled
//
// Guarantee: linearizable stack; every call comes to its end, as each permit is given back.
// Source: C++20, 33.8 [thread.sema]: acquire blocks until the counter is greater than zero.
// interlap: -std=c++20
#include <interlap.hpp>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#define TEXT(number) #number
#define TEXT_OF(macro) TEXT(macro)

struct Target {
    static constexpr auto library = "std::counting_semaphore of libstdc++";
    static constexpr auto version = TEXT_OF(_GLIBCXX_RELEASE);
    static constexpr auto model = "lifo";

    std::counting_semaphore<> permits{2};
    std::mutex mutex;
    std::vector<int64_t> values;

    struct Permit {
        Target &target;
        explicit Permit(Target &target) : target(target) { target.permits.acquire(); }
        ~Permit() { target.permits.release(); }
    };
    bool push(int64_t value) {
        Permit permit(*this);
        std::lock_guard guard(mutex);
        values.push_back(value);
        return true;
    }
    bool pop(int64_t &value) {
        Permit permit(*this);
        std::lock_guard guard(mutex);
        if (values.empty()) return false;
        value = values.back();
        values.pop_back();
        return true;
    }
};
INTERLAP_TARGET(Target)
