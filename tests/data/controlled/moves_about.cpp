// A counter whose calls change the process's directory, its mask for new files and its locale: each
// round finds them as the first one did.
#include <interlap.hpp>
#include <atomic>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
struct Counter {
    std::atomic<int64_t> count{0};
    Counter() {
        char directory[4096];
        mode_t mask = umask(022);
        umask(mask);
        bool as_first = getcwd(directory, sizeof directory) && strcmp(directory, "/") != 0
                        && mask != 0777 && strcmp(setlocale(LC_ALL, nullptr), "C") == 0;
        if (!as_first) abort();
    }
    void add(int64_t amount) {
        if (chdir("/") != 0 || !setlocale(LC_ALL, "C.UTF-8")) abort();
        umask(0777);
        count += amount;
    }
    int64_t read() { return count; }
};
INTERLAP_TARGET(Counter)
