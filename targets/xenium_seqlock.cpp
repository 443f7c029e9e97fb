// xenium::seqlock of four words; a torn read shows as a value that nobody wrote.
//
// Guarantee: linearizable register.
// Source: class documentation of xenium::seqlock.
#include <cstdint>
#include <interlap.hpp>
#include <xenium/seqlock.hpp>

struct Words {
    int64_t word[4];
};

struct Target {
    static constexpr auto library = "xenium::seqlock";
    static constexpr auto model = "register";

    xenium::seqlock<Words> lock{Words{{0, 0, 0, 0}}};

    int64_t read() {
        Words words = lock.load();
        for (int64_t word : words.word)
            if (word != words.word[0]) return -1;
        return words.word[0];
    }
    void write(int64_t value) { lock.store(Words{{value, value, value, value}}); }
    bool compare_exchange(int64_t old, int64_t value) {
        bool equal = false;
        lock.update([&](Words &words) {
            equal = words.word[0] == old;
            if (equal) words = Words{{value, value, value, value}};
        });
        return equal;
    }
};
INTERLAP_TARGET(Target)
