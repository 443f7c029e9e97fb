//! `interlap export` of faults: crashes, memory faults, livelocks. The program shows the same fault
//! when it is run, and all trials together keep to their time.

use std::path::Path;
use std::time::{Duration, Instant};

use super::exporting::{compiled_and_run, shrunk, text};
use super::tool::Tool;

/// Finds a fault in an adapter, exports it, and runs the program three times. Gives the program,
/// its last output and its exit status, none if a signal ended it.
fn exported(code: &str) -> (String, String, Option<i32>) {
    let tool = Tool::new();
    let adapter = tool.adapter("faulty.cpp", code);
    let finding =
        shrunk(&tool, adapter.to_str().expect("UTF-8"), &["--threads", "2", "--races=off"]);
    let answer = tool.run(&["export", finding.to_str().expect("UTF-8"), "--try-for", "10s"]);
    answer.expect(1, &["reproduces in every run"]);
    let export = finding.join("export");
    let output = compiled_and_run(&export);
    let program = std::fs::read_to_string(export.join("reproducer.c")).expect("the program");
    (program, text(&output), output.status.code())
}

/// A reader increments the count of a box that may be freed: that access is the last event.
#[test]
fn a_use_after_free_has_its_last_access_forced() {
    let code = "#include <interlap.hpp>
#include <atomic>
struct Box { std::atomic<int> refs; int64_t value; };
static inline void drop(Box *b) { if (b->refs.fetch_sub(1) == 1) delete b; }
struct Register {
    std::atomic<Box *> current{new Box{{1}, 0}};
    ~Register() { drop(current.load()); }
    int64_t read() {
        Box *b = current.load();
        b->refs.fetch_add(1);
        int64_t v = b->value;
        drop(b);
        return v;
    }
    void write(int64_t v) { drop(current.exchange(new Box{{1}, v})); }
};
INTERLAP_TARGET(Register)
";
    let (program, printed, _) = exported(code);
    assert!(program.contains("in read()"), "{program}");
    assert!(printed.contains("REPRODUCED: use-after-free"), "{printed}");
}

/// At some point both threads begin to repeat the same steps for ever.
#[test]
#[ignore = "waits for calls that do not return: make test-long"]
fn a_livelock_is_forced_until_it_repeats() {
    let code = "#include <interlap.hpp>
#include <atomic>
struct Register {
    static constexpr unsigned thread_max = 2;
    std::atomic<bool> want[3] = {};
    int64_t value = 0;
    struct Local { unsigned me; Local(Register &, unsigned t) : me(t & 1) {} };
    void enter(unsigned me) {
        want[me].store(true);
        while (want[1 - me].load()) {}
    }
    void leave(unsigned me) { want[me].store(false); }
    int64_t read(Local &l) { enter(l.me); int64_t v = value; leave(l.me); return v; }
    void write(Local &l, int64_t v) { enter(l.me); value = v; leave(l.me); }
};
INTERLAP_TARGET(Register)
";
    let (_, printed, status) = exported(code);
    assert!(printed.contains("REPRODUCED: calls do not return"), "{printed}");
    assert_eq!(status, Some(1));
}

/// The thread in the middle of its addition never continues.
#[test]
fn a_crash_is_forced_while_another_call_is_stopped_for_good() {
    let code = "#include <interlap.hpp>
#include <atomic>
struct Counter {
    std::atomic<int64_t> sum{0}, number{0};
    void add(int64_t amount) {
        sum.fetch_add(amount);
        number.fetch_add(1);
    }
    int64_t read() {
        int64_t s = sum.load();
        if (s == 0) return 0;
        volatile int64_t mean = s / number.load();
        (void)mean;
        return s;
    }
};
INTERLAP_TARGET(Counter)
";
    let (program, _, status) = exported(code);
    assert_eq!(status, None, "{program}");
    assert!(program.contains("in add("), "{program}");
}

/// Between the read and the write of one `++`.
#[test]
fn a_count_without_its_lock_is_stopped_in_the_middle_of_a_statement() {
    let code = "#include <interlap.hpp>
#include <cstdlib>
#include <mutex>
struct Counter {
    std::mutex lock;
    std::atomic<int64_t> sum{0};
    volatile int64_t begun = 0;
    void add(int64_t amount) {
        ++begun;
        std::lock_guard<std::mutex> guard(lock);
        sum.fetch_add(amount);
        ended += 1;
    }
    int64_t ended = 0;
    int64_t read() {
        std::lock_guard<std::mutex> guard(lock);
        if (begun < ended) abort();
        return sum.load();
    }
};
INTERLAP_TARGET(Counter)
";
    let (program, ..) = exported(&code.replace("<cstdlib>", "<cstdlib>\n#include <atomic>"));
    assert!(program.contains(", WRITE, 8, 1}"), "{program}");
}

/// The fault needs another seed than 1, which is the only one of the program.
#[test]
fn a_fault_that_the_program_does_not_show_is_reported_within_the_time() {
    let code = "#include <interlap.hpp>
#include <atomic>
struct Counter {
    std::atomic<int64_t> sum{0};
    bool wrong;
    explicit Counter(const interlap::config &config) : wrong(config.seed != 1) {}
    void add(int64_t amount) {
        int64_t before = sum.load();
        if (wrong) sum.store(before + amount);
        else sum.fetch_add(amount);
    }
    int64_t read() { return sum.load(); }
};
INTERLAP_TARGET(Counter)
";
    let tool = Tool::new();
    let adapter = tool.adapter("later.cpp", code);
    let finding = shrunk(&tool, adapter.to_str().expect("UTF-8"), &["--threads", "2"]);
    let finding = finding.to_str().expect("UTF-8");
    let started = Instant::now();
    let answer = tool.run(&["export", finding, "--try-for", "5s"]);
    answer.expect(3, &["for 5 s at most", "It could not be reproduced without interlap"]);
    answer.expect(3, &["tried", "That says nothing of the bug"]);
    // A running compiler is not interrupted.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    let readme = std::fs::read_to_string(Path::new(finding).join("export/README.md"));
    assert!(readme.expect("the README").contains("That says nothing of the bug"));
}
