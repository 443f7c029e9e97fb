//! Data races: pairs of methods, of which one half has just enough synchronisation, are told apart
//! at their lines.

use interlap::finding::{Failure, Stored};
use interlap::process::fault::FaultKind;
use interlap::trace::frame::{AccessKind, Deed, DetectedKind};

use super::tool::{Call, Tool, data, read};

/// Files of methods. Those whose names begin with `by_` race where they are a little wrong.
const FILES: [&str; 4] = ["pairs.cpp", "locks.cpp", "atomics.cpp", "threads.cpp"];

fn pairs<'a>(tool: &'a Tool, file: &str) -> Call<'a> {
    let adapter = data("races").join(file);
    tool.fuzz(adapter).controlled().seed(1).jobs(1).rounds(2_000).shrinking("0s").with("--races")
}

/// The names of the methods that race with -DWRONG.
fn racy(file: &str) -> Vec<String> {
    let text = read(data("races").join(file));
    let named = text.lines().filter_map(|line| line.trim().strip_prefix("void by_"));
    named.map(|rest| format!("by_{}", rest.split('(').next().unwrap_or_default())).collect()
}

#[test]
fn what_orders_accesses_is_enough() {
    for file in FILES.iter().chain(&["library.cpp"]) {
        pairs(&Tool::new(), file).finds_nothing();
    }
}

#[test]
fn a_little_less_is_a_race() {
    for file in FILES {
        let (tool, methods) = (Tool::new(), racy(file));
        let run = pairs(&tool, file).with("--cflag -DWRONG --findings 300");
        let answer = run.expect(1, &[DetectedKind::DataRace.name()]);
        let missing = methods.iter().filter(|method| !answer.out.contains(&format!("::{method}")));
        let missing: Vec<&String> = missing.collect();
        assert!(methods.len() > 10 && missing.is_empty(), "{file}: {missing:?} of {methods:?}");
    }
}

/// `cargo test --test it thread_sanitizer_sees -- --ignored --nocapture`: of the races in the wrong
/// halves, those that ThreadSanitizer reports at the same lines.
#[test]
#[ignore = "minutes, and threads that run at once"]
fn thread_sanitizer_sees_the_same_races() {
    let (mut seen, mut all) = (0, 0);
    for file in FILES {
        let tool = Tool::new();
        let run = pairs(&tool, file).with("--cflag -DWRONG --findings 300");
        for finding in run.expect(1, &[]).findings {
            let stored = Stored::load(&finding).expect("a finding");
            if !stored.finding.signature.is_data_race() {
                continue;
            }
            let export = tool.call("export").arg(&finding).with("--try-for 4s").run();
            let is_seen = export.status == 1;
            if !is_seen {
                println!("not by ThreadSanitizer: {}", stored.finding.signature);
            }
            (seen, all) = (seen + usize::from(is_seen), all + 1);
        }
    }
    println!("ThreadSanitizer sees {seen} of {all} races");
    assert!(2 * seen > all);
}

#[test]
fn a_race_has_both_accesses_with_their_lines_and_names() {
    let tool = Tool::new();
    let text = "
        #include <interlap.hpp>
        #include <mutex>
        struct Target {
            static constexpr auto model = \"counter\";
            std::mutex mutex;
            int64_t value = 0;
            void add(int64_t more) {
                std::lock_guard<std::mutex> hold(mutex);
                value += more; // written
            }
            int64_t read() { return value; /* read */ }
        };
        INTERLAP_TARGET(Target)
    ";
    let answer = tool.fuzz_text("racy.cpp", text).with("--races").findings(1);
    let answer = answer.expect(1, &["data race", "racy.cpp:10", "racy.cpp:12"]);
    let stored = answer.stored();
    let Failure::Fault { kind, places, .. } = &stored.finding.what else { panic!("a fault") };
    assert_eq!(*kind, FaultKind::Detected(DetectedKind::DataRace));
    let writes = places.iter().map(|place| match place.deed {
        Deed::Raced { writes, kind: AccessKind::Plain, size: 8, .. } => writes,
        other => panic!("{other:?}"),
    });
    let mut writes: Vec<bool> = writes.collect();
    writes.sort_unstable();
    assert_eq!(writes, [false, true]);
    tool.explain(answer.finding()).expect(1, &["value", "racy.cpp:10"]);
    tool.replay(answer.finding()).expect(1, &["data race"]);
}

#[test]
fn other_engines_say_that_they_look_for_none() {
    let tool = Tool::new();
    let run = tool.fuzz("atomic_counter").rounds(1);
    // What native threads did in the round is chance.
    let answer = run.with("--engine native --races --memory-model c11").run();
    assert!(answer.err.contains("without --memory-model, --races"), "{}", answer.all());
}

/// A counter whose lock is forgotten in one of two methods.
const FORGETS: &str = "
    #include <interlap.hpp>
    #include <mutex>
    struct Target {
        static constexpr auto model = \"counter\";
        std::mutex mutex;
        int64_t value = 0, changes = 0;
        void add(int64_t more) {
            value += more;
            changes++;
        }
        int64_t read() {
            std::lock_guard<std::mutex> hold(mutex);
            return value;
        }
    };
    INTERLAP_TARGET(Target)
";

/// Three pairs of lines race in most rounds, and in some an add is lost.
#[test]
fn a_round_goes_on_after_its_races() {
    let tool = Tool::new();
    let run = tool.fuzz_text("forgets.cpp", FORGETS).jobs(1).rounds(300).shrinking("0s");
    let run = run.with("--races --plain-points --memory-model sc");
    let lines = ["add at forgets.cpp:9", "add at forgets.cpp:10", "read at forgets.cpp:14"];
    let answer = run.expect(1, &[&lines[..], &["not-linearizable", "the same bug as"]].concat());
    let of_model = answer.findings.iter().map(|at| Stored::load(at).expect("a finding"));
    let of_model = of_model.filter(|stored| !stored.finding.signature.is_data_race());
    let of_model: Vec<Stored> = of_model.collect();
    assert!(!of_model.is_empty());
    for Stored { finding, .. } in of_model {
        assert!(finding.confirmed == Some(true) && !finding.races.is_empty(), "{finding:#?}");
    }
}

/// Where no order is weak no load can read an older store; races are looked for as often.
#[test]
fn what_only_locks_order_needs_no_older_stores() {
    let tool = Tool::new();
    let default = |text: &str| tool.fuzz_text("count.cpp", text).rounds(100).shrinking("0s");
    default(FORGETS).expect(1, &["data race"]);
    let right = FORGETS.replace("value += more;", "std::lock_guard hold(mutex); value += more;");
    default(&right).expect(0, &["all atomic accesses are sequentially consistent", "data races"]);
    let weak = right.replace("#include <mutex>", "#include <mutex>\n#include <atomic>");
    let weak = weak.replace(
        "return value;",
        "static std::atomic<int> reads; reads.load(std::memory_order_relaxed); return value;",
    );
    default(&weak).expect(0, &["loads read older stores as C++ allows", "data races"]);
}

#[test]
fn an_adapter_accepts_races_with_a_reason() {
    let tool = Tool::new();
    let lock = "std::lock_guard<std::mutex> hold(mutex);";
    let right =
        FORGETS.replace(lock, "").replace("value += more;", &format!("{lock} value += more;"));
    let accepts = |why: &str| format!("// A counter.\n//\n// Race: *::read {why}\n{right}");
    let run = |text: &str| tool.fuzz_text("hint.cpp", text).rounds(300).with("--races");
    run(&accepts("it is a hint,\n//   and may be old"))
        .expect(0, &["known: it is a hint, and may be old: 1 finding", "Nothing new was found"]);
    run(&accepts("")).expect(2, &["// Race: *::read", "why"]);
    run(&right).expect(1, &["data race"]);
}

/// A model is made for one thread at a time, by whichever thread that is.
#[test]
fn sequential_models_do_not_race() {
    let tool = Tool::new();
    let text = "
        #include <interlap_operations.hpp>
        #include <mutex>
        struct Ids {
            std::mutex mutex;
            int next = 0;
            int take() {
                std::lock_guard<std::mutex> hold(mutex);
                return next++;
            }
        };
        INTERLAP_OPERATIONS(Ids, take)
        struct Model {
            int next = 0;
            int take() { return next++; }
        };
        INTERLAP_MODEL(Model)
    ";
    tool.fuzz_text("ids.cpp", text).rounds(500).with("--races").finds_nothing();
}
