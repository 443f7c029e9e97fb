// What it does depends on all that differs between machines, processes and the rounds before: how
// many processors there are, where the kernel maps memory, random numbers, time used. In every
// round it leaves memory mapped, now more, now less.
#include <fcntl.h>
#include <interlap.hpp>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <thread>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>

static const unsigned at_load = std::thread::hardware_concurrency();

static uint64_t mixed(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x9e3779b97f4a7c15 >> 7;
}

struct Target {
    static constexpr auto model = "set";
    std::mutex mutex, mapping;
    std::atomic<uint64_t> steps{0};
    uint64_t round;
    bool present[1024] = {};

    explicit Target(const interlap::config &config) : round(config.round) {}

    static void *map(size_t bytes) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (at == MAP_FAILED) abort();
        memset(at, 1, 100);
        return at;
    }
    uint64_t of_mappings() {
        // Another thread would take the room that is made.
        std::lock_guard<std::mutex> guard(mapping);
        // One stays when the round ends, one moves, one makes room for the next.
        uint64_t hash = reinterpret_cast<uintptr_t>(map(5000 + round % 7 * 4096));
        void *moved = mremap(map(4096), 4096, 1 << 16, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED || static_cast<char *>(moved)[99] != 1) abort();
        hash = mixed(hash, reinterpret_cast<uintptr_t>(moved));
        void *large = map(4 << 20);
        munmap(large, 4 << 20);
        if (map(4 << 20) != large) abort();
        return mixed(hash, reinterpret_cast<uintptr_t>(large));
    }
    static uint64_t of_chance() {
        uint64_t hash = 0, value;
        int file = open("/dev/urandom", O_RDONLY);
        if (read(file, &value, sizeof value) != sizeof value) abort();
        close(file);
        hash = mixed(hash, value);
        std::ifstream stream("/dev/urandom", std::ios::binary);
        if (!stream.read(reinterpret_cast<char *>(&value), sizeof value)) abort();
        hash = mixed(hash, value);
        memcpy(&value, reinterpret_cast<void *>(getauxval(AT_RANDOM)), sizeof value);
        return mixed(hash, value);
    }
    static uint64_t of_machine() {
        cpu_set_t set;
        if (sched_getaffinity(0, sizeof set, &set)) abort();
        if (sched_getcpu() >= sysconf(_SC_NPROCESSORS_ONLN)) abort();
        if (sysconf(_SC_NPROCESSORS_ONLN) != CPU_COUNT(&set)) abort();
        rusage used;
        getrusage(RUSAGE_SELF, &used);
        tms all;
        uint64_t hash = mixed(at_load, CPU_COUNT(&set));
        hash = mixed(hash, used.ru_utime.tv_usec + used.ru_maxrss);
        return mixed(hash, times(&all));
    }
    // As many steps as the answers say.
    void step() {
        uint64_t hash = mixed(mixed(of_mappings(), of_chance()), of_machine());
        for (uint64_t i = 0; i < hash % 64; i++) steps++;
    }
    bool insert(int64_t key) {
        step();
        std::lock_guard<std::mutex> guard(mutex);
        bool inserted = !present[key];
        present[key] = true;
        return inserted;
    }
    bool remove(int64_t key) {
        step();
        std::lock_guard<std::mutex> guard(mutex);
        bool removed = present[key];
        present[key] = false;
        return removed;
    }
};
INTERLAP_TARGET(Target)
