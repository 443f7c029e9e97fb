// A register whose readers wait for a byte that nobody in the process ever writes. Cannot be
// controlled.
#include <interlap.hpp>

#include <atomic>
#include <unistd.h>

struct Register {
    std::atomic<int64_t> value{0};
    int ends[2];

    Register() {
        if (pipe(ends) != 0) ends[0] = ends[1] = -1;
    }
    ~Register() {
        close(ends[0]);
        close(ends[1]);
    }
    int64_t read() {
        char byte;
        return ::read(ends[0], &byte, 1) == 1 ? 0 : value.load();
    }
    void write(int64_t v) { value = v; }
};
INTERLAP_TARGET(Register)
