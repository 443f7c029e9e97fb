// A counter whose threads have hundreds of thread-local objects. Controlled: clean. Each is destroyed
// when its thread ends.
#include <interlap.hpp>

#include <atomic>
#include <cassert>
#include <thread>
#include <utility>

static std::atomic<int> alive{0};
template <int N> struct Object {
    int uses = 0;
    Object() { alive++; }
    ~Object() { alive--; }
};
template <int N> int use() {
    thread_local Object<N> object;
    return ++object.uses;
}
template <int... N> int use_all(std::integer_sequence<int, N...>) { return (use<N>() + ...); }

struct Counter {
    std::atomic<int64_t> value{0};

    Counter() {
        constexpr int most = 300;
        int before = alive;
        std::thread has([] { assert(use_all(std::make_integer_sequence<int, most>()) == most); });
        has.join();
        assert(alive == before);
    }
    void add(int64_t amount) { value += amount; }
    int64_t read() { return value; }
};
INTERLAP_TARGET(Counter)
