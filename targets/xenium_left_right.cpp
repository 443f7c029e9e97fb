// xenium::left_right of one word: readers never wait, writers keep two copies.
//
// Guarantee: linearizable register; an update is visible to every read that begins after it.
// Source: class documentation, which names Ramalhete and Correia, "Left-Right: A Concurrency
// Control Technique with Wait-Free Population Oblivious Reads", 2015.
#include <cstddef>
#include <cstdint>
#include <interlap.hpp>
#include <xenium/left_right.hpp>

struct Target {
    static constexpr auto library = "xenium::left_right";
    static constexpr auto model = "register";

    xenium::left_right<int64_t> copies{0};

    int64_t read() {
        return copies.read([](const int64_t &held) { return held; });
    }
    void write(int64_t value) {
        copies.update([&](int64_t &held) { held = value; });
    }
    bool compare_exchange(int64_t old, int64_t value) {
        bool equal = false;
        copies.update([&](int64_t &held) {
            equal = held == old;
            if (equal) held = value;
        });
        return equal;
    }
};
INTERLAP_TARGET(Target)
