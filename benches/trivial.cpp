// A register that is never written: what is left of a call is its timebox.
#include <interlap.hpp>
struct Target {
    static constexpr auto model = "register";
    int64_t read() { return 0; }
};
INTERLAP_TARGET(Target)
