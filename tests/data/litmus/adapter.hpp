// interlap: -std=c++20 -w
// What litmus tests are written with: tests/run/memory_model.rs makes methods of shapes.txt, each of
// which says whether its outcome was seen.
#include <atomic>
#include <interlap_operations.hpp>
#include <thread>

using atomic = std::atomic<int>;
constexpr auto rlx = std::memory_order_relaxed;
constexpr auto con = std::memory_order_consume;
constexpr auto acq = std::memory_order_acquire;
constexpr auto rel = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;
constexpr auto sc = std::memory_order_seq_cst;

template <class... Threads> void at_once(Threads... all) {
    std::thread threads[] = {std::thread(all)...};
    for (auto &thread : threads) thread.join();
}
