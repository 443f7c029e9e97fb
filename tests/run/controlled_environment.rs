//! Interposed functions under the real engine: correct adapters that use one feature each have no
//! finding on either carrier; faults are found, with threads and places; and what cannot be
//! controlled is reported.

use std::path::PathBuf;

use interlap::finding::FaultPlace;
use interlap::fuzz::Coverage;
use interlap::process::fault::FaultKind;
use interlap::report::coverage::remarks;
use interlap::report::words::{CONFIRMED, NOTHING_FOUND};
use interlap::trace::frame::{Awaited, Deed, DetectedKind, Wait, When};

use super::fault::FoundFault;
use super::tool::{Call, Tool, data};

/// An adapter of `tests/data/controlled`.
fn adapter(name: &str) -> PathBuf {
    data(&format!("controlled/{name}.cpp"))
}

/// That adapter under control.
fn fuzz<'a>(tool: &'a Tool, name: &str) -> Call<'a> {
    tool.fuzz(adapter(name)).controlled().seed(3)
}

/// Asserts that nothing is found, in many rounds on fibers and some on threads.
#[track_caller]
fn clean(names: &[&str]) {
    let tool = Tool::new();
    for name in names {
        for (carrier, rounds) in [("fiber", 100), ("thread", 50)] {
            let run = fuzz(&tool, name).carrier(carrier).rounds(rounds);
            run.expect(0, &[name, NOTHING_FOUND]).lacks("warning");
        }
    }
}

/// Asserts that a fault is found and confirmed; gives it.
#[track_caller]
fn faulty(name: &str, more: &str) -> FoundFault {
    let tool = Tool::new();
    let answer = fuzz(&tool, name).rounds(3000).findings(1).with(more).expect(1, &[CONFIRMED]);
    let stored = answer.stored();
    assert_eq!(stored.finding.confirmed, Some(true));
    FoundFault::of(&stored)
}

/// What the run in `findings` covered.
fn covered(tool: &Tool) -> Coverage {
    tool.ledger().statistics.coverage.expect("that of the controlled engine")
}

#[test]
fn locks_are_controlled() {
    clean(&["recursive_map", "mutex_kinds", "shared_set", "rwlock", "spin_pthread"]);
}

#[test]
fn waits_are_controlled() {
    clean(&["blocking_queue", "semaphore_queue", "barrier", "futex", "atomic_wait", "c11"]);
}

#[test]
fn loops_that_wait_are_controlled() {
    clean(&["spin_pure", "spin_yield", "sleep_backoff", "call_once"]);
}

#[test]
fn threads_of_the_target_are_controlled() {
    clean(&[
        "worker_pool",
        "async_stack",
        "pipe_wakeup",
        "leaves_early",
        "forks",
        "at_fork",
        "event_lock",
        "moves_about",
    ]);
}

/// As natively: eight MiB, whose address a thread can ask for.
#[test]
fn stacks_are_as_large_as_those_of_native_threads() {
    clean(&["deep_stack"]);
    let tool = Tool::new();
    tool.fuzz(adapter("deep_stack")).native().rounds(20).calls(20).finds_nothing();
}

/// What the engine cannot control, or has no room for, is no finding.
#[test]
fn targets_beyond_the_engine_run_on_native_threads() {
    for (name, why) in [
        ("thread_at_load", "a target that starts a thread when it is loaded"),
        ("large_block", "a block of 600 MiB"),
        ("large_stack", "a thread with a stack of 64 MiB"),
    ] {
        let tool = Tool::new();
        fuzz(&tool, name).rounds(50).expect(2, &["cannot control", why, "--engine native"]);
        left_to_native_threads(tool.fuzz(adapter(name)).rounds(5).calls(4));
    }
}

#[track_caller]
fn left_to_native_threads(run: Call) {
    let answer = run.finds_nothing();
    assert!(answer.err.contains("going on with native threads"), "{}", answer.all());
}

/// As natively; after the exception, code is under control again.
#[test]
fn a_failed_allocation_is_left_to_the_target() {
    clean(&["no_memory"]);
}

/// A wait that only a thread which cannot run meanwhile could end is no finding.
#[test]
fn a_system_call_that_waits_cannot_be_controlled() {
    let tool = Tool::new();
    for carrier in ["fiber", "thread"] {
        let run = fuzz(&tool, "pipe_room").rounds(100).with("--hang 2s").carrier(carrier);
        run.expect(2, &["cannot control", "a system call that waits in the kernel"]);
    }
}

/// It may have addresses of blocks, for example on its stack.
#[test]
fn a_thread_that_outlives_the_round_leaks_nothing() {
    let tool = Tool::new();
    fuzz(&tool, "static_pool").rounds(300).expect(0, &[NOTHING_FOUND]);
    assert_eq!(covered(&tool).leaked_blocks, 0);
}

#[test]
fn thread_local_state_stays_with_its_thread() {
    clean(&[
        "thread_local",
        "key_destructor",
        "exceptions",
        "errno_own",
        "signals",
        "signals_between",
        "signal_waits",
        "many_thread_locals",
    ]);
}

#[test]
fn randomness_time_output_and_wide_atomics_are_controlled() {
    clean(&["chance", "prints", "cas128"]);
}

/// Code that is generated at link time would have no hooks.
#[test]
fn link_time_optimization_keeps_the_hooks() {
    let tool = Tool::new();
    let run = tool.fuzz("treiber_stack").controlled().seed(3).with("--cflag -flto");
    run.rounds(50).expect(0, &[NOTHING_FOUND]);
    assert_eq!(tool.ledger().statistics.rounds, 50);
}

/// A seed gives the same run, whichever source the target uses.
#[test]
fn random_numbers_come_from_the_seed() {
    let tool = Tool::new();
    let policies = |carrier: &str| {
        let json = fuzz(&tool, "chance").rounds(300).carrier(carrier).jobs(1).json(0);
        json["coverage"]["policies"].to_string()
    };
    let first = policies("fiber");
    assert_eq!(first, policies("fiber"), "in another process");
    assert_eq!(first, policies("thread"), "on real threads");
}

#[test]
fn a_deadlock_names_who_waits_where() {
    let waits = |place: &FaultPlace| {
        matches!(place.deed, Deed::Waits(Wait { on: Awaited::Mutex, holder: Some(_), .. }))
    };
    for carrier in ["fiber", "thread"] {
        let found = faulty("abba", &format!("--carrier {carrier}")).is(DetectedKind::Deadlock);
        let found = found.has("Queue::enqueue at abba.cpp:14", waits);
        found.has("Queue::dequeue at abba.cpp:20", waits);
    }
}

#[test]
fn a_lost_wakeup_is_a_deadlock() {
    let found = faulty("lost_wakeup", "").is(DetectedKind::Deadlock);
    found.has("Register::write at lost_wakeup.cpp:47", |place| {
        matches!(place.deed, Deed::Waits(Wait { on: Awaited::Condition, .. }))
    });
}

#[test]
fn a_wait_for_a_signal_that_nobody_sends_is_a_deadlock() {
    let found = faulty("never_signalled", "").is(DetectedKind::Deadlock);
    found.has("Counter::add at never_signalled.cpp:21", |place| {
        matches!(place.deed, Deed::Waits(Wait { on: Awaited::Signal, .. }))
    });
}

/// As natively, with the place of the throw.
#[test]
fn an_exception_that_leaves_a_thread_ends_the_process() {
    for carrier in ["fiber", "thread"] {
        let found = faulty("thread_throws", &format!("--carrier {carrier}"));
        let thrown = found.ended(FaultKind::Exception, "two at once").line;
        assert!(thrown.contains("thread_throws.cpp:16"), "{thrown}");
    }
}

/// Locks and functions of the C library have no hooks.
#[test]
fn freed_memory_used_by_uninstrumented_code_is_found() {
    // Without reuse of blocks, and with one job, so that the same finding always comes first.
    let more = "--heap keep --jobs 1 --races=off";
    let found = faulty("freed_lock", more).is(DetectedKind::UseAfterFree);
    found.has("Set::remove at freed_lock.cpp:38", |place| {
        matches!(place.deed, Deed::AccessedFreed { writes: true, offset: 0, .. })
    });
    let found = faulty("copies_freed", more).is(DetectedKind::UseAfterFree);
    found.has("Register::read at copies_freed.cpp:19", |place| {
        matches!(place.deed, Deed::AccessedFreed { writes: false, offset: 0, .. })
    });
}

#[test]
fn a_stack_overflow_is_named() {
    let found = faulty("endless_recursion", "").crashed(libc::SIGSEGV, "stack overflow");
    assert!(found.line.starts_with("deeper at endless_recursion.cpp"), "{}", found.line);
}

#[test]
fn an_overwritten_lock_throws() {
    faulty("overwritten_lock", "").ended(FaultKind::Exception, "Invalid argument");
}

#[test]
fn threads_that_spin_for_ever_are_a_livelock() {
    let lines = [
        ("never_released", "Stack::lock at never_released.cpp:16"),
        ("undo_each_other", "Register::enter at undo_each_other.cpp"),
        ("never_filled", "Register::is_any_filled at never_filled.cpp"),
    ];
    for (name, line) in lines {
        faulty(name, "").is(DetectedKind::Livelock).has(line, |place| place.deed == Deed::Runs);
    }
}

#[test]
fn a_livelock_has_its_places_however_many_rounds_faulted_before() {
    let stored = fuzz(&Tool::new(), "never_released").rounds(100).jobs(1).expect(1, &[]).stored();
    assert!(stored.finding.signature.to_string().ends_with("structure: Stack::lock"));
    assert_eq!(stored.finding.confirmed, Some(true));
    FoundFault::of(&stored).is(DetectedKind::Livelock);
}

#[test]
fn memory_faults_name_the_access_and_the_earlier_free_or_allocation() {
    let freed = |place: &FaultPlace| matches!(place.deed, Deed::HadFreed { .. });
    let found = faulty("use_after_free", "--races=off").is(DetectedKind::UseAfterFree);
    let found = found.has("Stack::pop at use_after_free.cpp", |place| {
        matches!(place.deed, Deed::AccessedFreed { offset: 8, .. })
    });
    found.has("Stack::pop at use_after_free.cpp:29", freed);
    let found = faulty("freed_by_who_leaves", "--races=off").is(DetectedKind::UseAfterFree);
    found.has("", |place| freed(place) && matches!(place.who.when, When::AfterCall(_)));
    let found = faulty("double_free", "--races=off").is(DetectedKind::DoubleFree);
    let found = found.has("Register::", |place| matches!(place.deed, Deed::FreedAgain { .. }));
    found.has("Register", freed);
    let found = faulty("bad_free", "--races=off").is(DetectedKind::BadFree);
    found.has("Queue::~Queue at bad_free.cpp", |place| {
        matches!(place.deed, Deed::FreedNoBlock { .. })
    });
    let found = faulty("past_the_end", "--races=off").is(DetectedKind::OutOfBounds);
    let found = found.has("Stack::push at past_the_end.cpp", |place| {
        place.deed == Deed::AccessedBehind { writes: true, offset: 24, bytes: 24 }
    });
    found.has("Stack::Stack", |place| matches!(place.deed, Deed::HadAllocated { .. }));
}

#[test]
fn a_crash_costs_one_round() {
    let tool = Tool::new();
    let run = fuzz(&tool, "wild_write").rounds(300).with("--json");
    let answer = run.expect(1, &["SIGSEGV", "wild_write.cpp:"]);
    let run = answer.json();
    let count = |name: &str| run[name].as_u64().expect("a count");
    assert!(count("faults") > 1, "{run}");
    assert_eq!(count("faults") + count("rounds"), 300, "{run}");
}

#[test]
fn leaks_are_no_finding() {
    let tool = Tool::new();
    let answer = fuzz(&tool, "leaking").rounds(300).expect(0, &[NOTHING_FOUND]);
    let covered = covered(&tool);
    assert!(covered.leaks() && covered.leaked_blocks == covered.leaky_rounds, "{covered:?}");
    // And the run says so.
    let remarks = remarks(&covered);
    assert!(!remarks.is_empty());
    for remark in &remarks {
        answer.expect(0, &[remark]);
    }
}

#[test]
fn a_thread_that_computes_for_ever_is_a_hang() {
    for carrier in ["fiber", "thread"] {
        let tool = Tool::new();
        let run = fuzz(&tool, "endless").findings(1).with("--hang 2s").carrier(carrier);
        let stored = run.expect(1, &[CONFIRMED, "(hang calling"]).stored();
        let found = FoundFault::of(&stored).is(DetectedKind::Hang);
        found.has("Register::compute at endless.cpp", |place| place.deed == Deed::Runs);
    }
}

#[test]
fn a_run_continues_after_a_hang() {
    let tool = Tool::new();
    let run = fuzz(&tool, "endless").rounds(20).with("--hang 1s --weight write=1").json(1);
    let count = |name: &str| run[name].as_u64().expect("a count");
    assert!(count("faults") > 1, "{run}");
    assert_eq!(count("faults") + count("rounds"), 20, "{run}");
}

#[test]
fn a_blocking_read_cannot_be_controlled() {
    let tool = Tool::new();
    fuzz(&tool, "blocking_read")
        .rounds(300)
        .expect(2, &["cannot control: the target uses a blocking read", "--engine native"]);
}

#[test]
fn too_much_static_data_is_left_to_native_threads() {
    let tool = Tool::new();
    fuzz(&tool, "large_static")
        .rounds(50)
        .expect(2, &["cannot control: a target with 8 MiB of static data", "--engine native"]);
    left_to_native_threads(tool.fuzz(adapter("large_static")).rounds(50).calls(20));
    assert_eq!(tool.ledger().statistics.rounds, 50);
}

/// Both where all of a target is inline assembly, and where one lock of several is.
#[test]
fn inline_assembly_is_left_to_native_threads() {
    let tool = Tool::new();
    for (name, line) in [("assembly", "assembly.cpp:16"), ("assembly_lock", "assembly_lock.cpp:14")]
    {
        let answer = fuzz(&tool, name).rounds(1000).run();
        let words = ["cannot control: atomic instructions", line, "or use --engine native"];
        answer.expect(2, &words);
        left_to_native_threads(tool.fuzz(adapter(name)).rounds(40).calls(20));
        assert_eq!(tool.ledger().statistics.rounds, 40);
    }
}

/// As where a compiler has no shared C++ runtime to link with: its atomics are no target's.
#[test]
fn a_runtime_that_is_linked_in_does_not_keep_a_target_from_control() {
    let tool = Tool::new();
    let linked = |target: &str| tool.fuzz(target).with("--cflag -static-libstdc++").controlled();
    linked("mutex_map").seed(1).rounds(300).finds_nothing();
    linked("treiber_aba").seed(1).rounds(20_000).expect(1, &["treiber_aba"]);
    let own = linked(&adapter("assembly_lock").display().to_string());
    own.rounds(100).expect(2, &["atomic instructions", "assembly_lock.cpp:14"]);
}

#[test]
fn a_target_that_excludes_the_engine_is_refused_at_once() {
    let tool = Tool::new();
    let run = tool.fuzz("wiredtiger").controlled();
    run.expect(2, &["cannot control: the adapter of wiredtiger says", "--engine native"]);
    let text = format!("// A queue.\n// Engine: native\n{}", super::adapters::QUEUE);
    let own = tool.fuzz_text("own.cpp", &text).controlled();
    own.expect(2, &["cannot control: the adapter of own says"]);
}

/// An uninstrumented library, linked to the target, with the code that matters.
const LIBRARY: &str = "
    #include <mutex>
    #include <set>
    static std::mutex mutex;
    static std::set<long> keys;
    extern \"C\" bool part_insert(long key) {
        std::lock_guard lock(mutex);
        return keys.insert(key).second;
    }
    extern \"C\" bool part_remove(long key) {
        std::lock_guard lock(mutex);
        return keys.erase(key) != 0;
    }
    extern \"C\" void part_clear() { keys.clear(); }
";

const USER: &str = "
    #include <interlap.hpp>
    extern \"C\" bool part_insert(long);
    extern \"C\" bool part_remove(long);
    extern \"C\" void part_clear();
    struct Set {
        ~Set() { part_clear(); }
        bool insert(int64_t key) { return part_insert(key); }
        bool remove(int64_t key) { return part_remove(key); }
    };
    INTERLAP_TARGET(Set)
";

/// The target that uses the library's sources, compiled with these flags and linked as libpart.so.
fn fuzz_linked<'a>(tool: &'a Tool, user: &str, library: &str, flags: &str) -> Call<'a> {
    let folder = tool.dir.path();
    tool.write("part.cc", library);
    let compile = |words: String| {
        let mut compiler = std::process::Command::new("c++");
        let done = compiler.args(words.split_whitespace()).current_dir(folder).status();
        assert!(done.expect("a compiler").success());
    };
    compile(format!("-std=c++17 -O1 -fPIC -c part.cc -o part.o {flags}"));
    compile("-shared part.o -o libpart.so -Wl,-soname,libpart.so".to_string());
    let folder = folder.display();
    let link = format!("--cflag -L{folder} --cflag -Wl,-rpath,{folder} -l part");
    let run = tool.fuzz(tool.adapter("user.cpp", user)).controlled().seed(3).with(link);
    run.rounds(300).with("--hang 4s")
}

/// The adapter has variables of its own: `interlap.hpp` keeps the call under way in one.
#[test]
fn thread_local_variables_of_two_libraries_stay_separate() {
    let library = "
        thread_local long level = 2, level_of_most = 5;
        thread_local char zeros[16];
        extern \"C\" long part_level() { zeros[0]++; return level + level_of_most; }
    ";
    let user = "
        #include <atomic>
        #include <stdexcept>
        #include <interlap.hpp>
        extern \"C\" long part_level();
        struct Counter {
            static constexpr auto model = \"counter\";
            std::atomic<int64_t> value{0};
            void add(int64_t amount) { value += amount; }
            int64_t read() {
                if (part_level() != 7) throw std::runtime_error(\"another level\");
                return value;
            }
        };
        INTERLAP_TARGET(Counter)
    ";
    for carrier in ["fiber", "thread"] {
        let tool = Tool::new();
        fuzz_linked(&tool, user, library, "").carrier(carrier).expect(0, &[NOTHING_FOUND]);
    }
}

/// There are only plain accesses between those that race.
#[test]
fn a_forgotten_lock_is_found_without_options() {
    let text = "
        #include <mutex>
        #include <interlap.hpp>
        struct Counter {
            std::mutex mutex;
            int64_t value = 0;
            void add(int64_t amount) { value += amount; }
            int64_t read() { std::lock_guard<std::mutex> guard(mutex); return value; }
        };
        INTERLAP_TARGET(Counter)
    ";
    let tool = Tool::new();
    let run = tool.fuzz(tool.adapter("forgotten.cpp", text)).controlled().seed(3).rounds(2000);
    run.clone().expect(1, &["data race", "not-linearizable"]);
    let run = run.with("--races=off");
    run.with("--plain-points=none").expect(0, &["--plain-points"]);
}

/// Their handlers would run anywhere, even inside the engine.
#[test]
fn signals_from_a_timer_are_not_controlled() {
    let text = "
        #include <atomic>
        #include <csignal>
        #include <ctime>
        #include <interlap.hpp>
        static volatile int ticks;
        static void tick(int) { ticks = ticks + 1; }
        struct Counter {
            static constexpr auto model = \"counter\";
            std::atomic<int64_t> value{0};
            timer_t timer;
            Counter() {
                signal(SIGUSR2, tick);
                sigevent event{};
                event.sigev_notify = SIGEV_SIGNAL;
                event.sigev_signo = SIGUSR2;
                timer_create(CLOCK_MONOTONIC, &event, &timer);
            }
            ~Counter() { timer_delete(timer); }
            void add(int64_t amount) { value += amount; }
            int64_t read() { return value; }
        };
        INTERLAP_TARGET(Counter)
    ";
    let tool = Tool::new();
    let run = tool.fuzz_text("ticks.cpp", text).controlled().rounds(40);
    run.expect(2, &["cannot control", "timer_create", "--engine native"]);
}

#[test]
fn an_uninstrumented_library_is_named() {
    let tool = Tool::new();
    let warning = "blind to the code of libpart.so";
    let answer = fuzz_linked(&tool, USER, LIBRARY, "").run();
    answer.expect(0, &[NOTHING_FOUND, warning, "--engine native"]);
    let answer = fuzz_linked(&tool, USER, LIBRARY, "-fsanitize=thread").run();
    answer.expect(0, &[NOTHING_FOUND]).lacks(warning);
}

/// An allocation under the lock switches threads: the others then spin for ever, in uninstrumented
/// code.
#[test]
fn an_uninstrumented_library_that_spins_is_not_accused() {
    let tool = Tool::new();
    let spins = LIBRARY.replace(
        "static std::mutex mutex;",
        "#include <atomic>
        struct Spin {
            std::atomic_flag held = ATOMIC_FLAG_INIT;
            void lock() { while (held.test_and_set()) {} }
            void unlock() { held.clear(); }
        };
        static Spin mutex;",
    );
    let answer = fuzz_linked(&tool, USER, &spins, "").run();
    answer.expect(2, &["cannot control", "code of libpart.so, which has no hooks"]);
    fuzz_linked(&tool, USER, &spins, "-fsanitize=thread").expect(0, &[NOTHING_FOUND]);
}

/// A call that takes long and yields often. What it does meanwhile is not seen.
#[test]
fn an_uninstrumented_library_that_yields_is_not_accused() {
    let tool = Tool::new();
    let yields = LIBRARY.replace(
        "static std::mutex mutex;",
        "#include <sched.h>
        struct Slow {
            volatile long turns = 0;
            void lock() { for (turns = 0; turns < 200000; turns = turns + 1) sched_yield(); }
            void unlock() {}
        };
        static Slow mutex;",
    );
    let answer = fuzz_linked(&tool, USER, &yields, "").with("--steps 1000").run();
    answer.expect(2, &["cannot control", "code of libpart.so, which has no hooks"]);
}

/// The library keeps memory for its next structure, behind an address that looks like none.
#[test]
fn what_an_uninstrumented_library_keeps_is_not_called_a_leak() {
    let tool = Tool::new();
    let keeps = LIBRARY.replace(
        "keys.clear(); }",
        "keys.clear(); kept = ~reinterpret_cast<unsigned long>(new long[8]); }",
    );
    let keeps =
        keeps.replace("static std::mutex mutex;", "static std::mutex mutex; unsigned long kept;");
    let answer = fuzz_linked(&tool, USER, &keeps, "").run();
    let covered = covered(&tool);
    assert!(covered.leaks(), "{covered:?}");
    for remark in remarks(&covered) {
        assert!(remark.contains("libpart.so"), "{remark}");
        answer.expect(0, &[&remark]);
    }
}
