//! What a finding depends on is in its short table, whatever is left out of it.

use interlap::report::text::brief;

use super::tool::Tool;

/// An adapter, and what its table must say, in this order.
struct Case {
    name: &'static str,
    text: &'static str,
    says: &'static [&'static str],
}

/// Of a round with 120,000 accesses the two that are too far apart.
const FAR_APART: Case = Case {
    name: "far_apart.cpp",
    text: "
        #include <atomic>
        #include <interlap.hpp>
        struct Target {
            static constexpr auto model = \"counter\";
            std::atomic<int64_t> value{0};
            std::atomic<int> cells[30000] = {};
            void look() { for (auto &cell : cells) cell.load(); }
            void add(int64_t more) {
                int64_t before = value.load();
                look();
                value.store(before + more);
                look();
            }
            int64_t read() { return value.load(); }
        };
        INTERLAP_TARGET(Target)
    ",
    says: &["value is ", "is stopped inside of add(", "value is ", "value = ", "value = "],
};

/// A store that waits in its store buffer, and who misses it.
const LATE: Case = Case {
    name: "late.cpp",
    text: "
        #include <atomic>
        #include <interlap.hpp>
        struct Target {
            static constexpr auto model = \"counter\";
            std::atomic<int64_t> wants[2] = {0, 0};
            int64_t value = 0;
            struct Local { unsigned side; Local(Target &, unsigned thread) : side(thread % 2) {} };
            void enter(unsigned side) {
                for (;;) {
                    wants[side].store(1, std::memory_order_release);
                    if (wants[1 - side].load(std::memory_order_acquire) == 0) return;
                    leave(side);
                }
            }
            void leave(unsigned side) { wants[side].store(0, std::memory_order_release); }
            void add(Local &local, int64_t more) {
                enter(local.side);
                value += more;
                leave(local.side);
            }
            int64_t read(Local &local) {
                enter(local.side);
                int64_t is = value;
                leave(local.side);
                return is;
            }
        };
        INTERLAP_TARGET(Target)
    ",
    says: &["others do not see it yet", "wants[", "now others see it"],
};

const FREED_TWICE: Case = Case {
    name: "freed_twice.cpp",
    text: "
        #include <atomic>
        #include <interlap.hpp>
        struct Target {
            static constexpr auto model = \"register\";
            std::atomic<long *> held{nullptr};
            void write(int64_t value) {
                long *before = held.exchange(new long[64]{value});
                delete[] before;
            }
            int64_t read() {
                long *now = held.load();
                if (!now) return 0;
                int64_t value = 0;
                for (int i = 0; i < 64; i++) value += now[i];
                if (held.load() == now) return value;
                delete[] now;
                return value;
            }
            ~Target() { delete[] held.load(); }
        };
        INTERLAP_TARGET(Target)
    ",
    says: &["frees #", "which was freed before"],
};

/// Both threads are in, and each waits for the other to leave.
const LOOPS: Case = Case {
    name: "loops.cpp",
    text: "
        #include <atomic>
        #include <interlap.hpp>
        struct Target {
            static constexpr auto model = \"register\";
            std::atomic<bool> in[2] = {false, false};
            std::atomic<int64_t> value{0};
            void lock(int side) {
                in[side].store(true);
                while (in[1 - side].load()) {}
            }
            void write(int64_t to) { lock(0); value.store(to); in[0].store(false); }
            int64_t read() { lock(1); int64_t is = value.load(); in[1].store(false); return is; }
        };
        INTERLAP_TARGET(Target)
    ",
    says: &["in[", "= 1, was 0", "in[", "= 1, was 0", "repeats this for ever in", "is 1 ", "is 1 "],
};

/// The thread of the target looks, does not wait yet, and misses the wake-up.
const DESTRUCTOR: Case = Case {
    name: "destructor.cpp",
    text: "
        #include <atomic>
        #include <condition_variable>
        #include <mutex>
        #include <thread>
        #include <interlap.hpp>
        struct Target {
            static constexpr auto model = \"counter\";
            std::mutex mutex;
            std::condition_variable wake;
            std::atomic<bool> stop{false};
            std::atomic<int64_t> value{0};
            std::thread own;
            Target() : own([this] { run(); }) {}
            ~Target() { stop = true; wake.notify_one(); own.join(); }
            void run() {
                std::unique_lock<std::mutex> guard(mutex);
                while (!stop) wake.wait(guard);
            }
            void add(int64_t more) { value += more; }
            int64_t read() { return value; }
        };
        INTERLAP_TARGET(Target)
    ",
    says: &[
        "is the target's own, started in Target::Target at destructor.cpp:14)",
        "stop is 0",
        "destroys    stop = 1, was 0",
        "destroys    wakes who waits for wake",
        "waits for wake",
        "waits for ever for a thread to end",
        "waits for ever for the condition variable at wake",
    ],
};

/// The target's own thread clears what a call has seen.
const CLEANER: Case = Case {
    name: "cleaner.cpp",
    text: "
        #include <atomic>
        #include <mutex>
        #include <thread>
        #include <interlap.hpp>
        struct Target {
            static constexpr auto model = \"register\";
            std::atomic<int64_t> value{0}, next{0};
            std::atomic<bool> stop{false};
            std::thread cleaner;
            Target() : cleaner([this] { clean(); }) {}
            ~Target() { stop = true; cleaner.join(); }
            void clean() {
                while (!stop) {
                    int64_t seen = next.load();
                    if (seen != 0) { value.store(seen); next.store(0); }
                }
            }
            void write(int64_t to) { next.store(to); while (next.load() == to) {} }
            int64_t read() { return value.load(); }
        };
        INTERLAP_TARGET(Target)
    ",
    says: &[
        "is the target's own, started in Target::Target at cleaner.cpp:11)",
        "next = ",
        "value = ",
    ],
};

#[test]
fn what_decides_is_shown_whatever_is_left_out() {
    for Case { name, text, says } in [FAR_APART, LATE, FREED_TWICE, LOOPS, DESTRUCTOR, CLEANER] {
        let tool = Tool::new();
        let run = tool.fuzz(tool.adapter(name, text)).controlled().seed(5).jobs(1).findings(1);
        let found = run.rounds(20_000).threads(2).calls(2).with("--races=off").expect(1, &[]);
        tool.explain(found.finding()).expect(1, &[]);
        let report = brief(&found.stored());
        let mut rest = report.split_once("How it went").expect(&report).1;
        for part in says {
            let Some((_, after)) = rest.split_once(part) else {
                panic!("{name}: {part} is not in the rest of\n{report}")
            };
            rest = after;
        }
    }
}
