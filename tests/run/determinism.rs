//! A round of the controlled engine is a function of its plan and its number, down to every answer,
//! stamp and step. Compares whole runs round by round.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use interlap::core::plan::WARM_UP_ROUNDS;
use interlap::report::words::NOTHING_FOUND;
use interlap::trace::rounds::{Round, read};

use super::adapters;
use super::tool::{Answer, Tool, data};

/// One target of each kind: self-contained, thread-local producers, an external library, hazard
/// pointers; epochs and random numbers from the time stamp counter, thread-local destructors.
const DIVERSE: [&str; 6] = [
    "ms_queue",
    "moodycamel",
    "tbb_queue",
    "cds_michael_list",
    "xenium_ramalhete_queue",
    "xenium_ms_queue_hp",
];

/// The surroundings of a run, which must make no difference.
struct Surroundings {
    /// Name of the folder it runs in.
    folder: String,
    /// Size of an environment variable, which moves the stack.
    environment: usize,
    /// With several jobs, a round has other predecessors, and another process.
    jobs: u64,
    /// Address space layout randomization is off.
    fixed: bool,
}

impl Surroundings {
    fn plain() -> Surroundings {
        Surroundings { folder: "a".to_string(), environment: 0, jobs: 1, fixed: false }
    }

    fn other(jobs: u64) -> Surroundings {
        Surroundings { folder: "b".repeat(200), environment: 50_000, jobs, fixed: false }
    }

    /// Every round of a run, as bytes and decoded.
    fn run(&self, tool: &Tool, target: &OsStr, rounds: u64) -> (Vec<u8>, Vec<Round>) {
        let folder = tool.path(&self.folder);
        std::fs::create_dir_all(&folder).expect("room");
        let run = tool.fuzz(target).controlled().seed(7).within("1h").jobs(self.jobs);
        // The round of a race that is known is run again, and so is recorded twice.
        let mut command = run.rounds(rounds).with("--trace trace --races=off").command();
        if self.fixed {
            command = with_a_fixed_layout(&command);
        }
        command.current_dir(&folder).env("LONG", "x".repeat(self.environment));
        Answer::from_output(command.output().expect("it starts")).expect(0, &[NOTHING_FOUND]);
        let file = folder.join("trace");
        (std::fs::read(&file).expect("a trace"), sorted(&file))
    }
}

/// The command without address space layout randomization.
fn with_a_fixed_layout(command: &Command) -> Command {
    let mut fixed = Command::new("setarch");
    fixed.arg("-R").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        fixed.env(name, value.expect("set, not removed"));
    }
    fixed
}

/// Containers often forbid it.
fn may_fix_the_layout() -> bool {
    let tried = Command::new("setarch").args(["-R", "true"]).output();
    let may = tried.is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("SKIPPED: no run without address space layout randomization, which is forbidden");
    }
    may
}

/// By number, without the pairs of accesses: a process reports those that are new to it.
fn sorted(file: &Path) -> Vec<Round> {
    let trace = read(file).expect("a trace");
    assert_eq!(trace.truncated, None);
    let mut rounds = trace.rounds;
    rounds.sort_by_key(|round| round.start.round);
    for round in &mut rounds {
        round.end.steps.as_mut().expect("of the controlled engine").pairs.clear();
    }
    rounds
}

#[track_caller]
fn assert_same(target: &OsStr, one: &[Round], two: &[Round]) {
    let differs = one.iter().zip(two).find(|(one, two)| one != two);
    if let Some((one, two)) = differs {
        let target = target.display();
        panic!("{target}, round {}:\n{one:?}\n{two:?}", one.start.round);
    }
    assert_eq!(one.len(), two.len(), "{target:?}");
}

/// Four runs: two in different surroundings, one with the rounds dealt out to jobs, one without
/// address space layout randomization.
fn repeats(target: impl AsRef<OsStr>, rounds: u64) {
    let (tool, target) = (Tool::new(), target.as_ref());
    let name = target.display();
    let (bytes, one) = Surroundings::plain().run(&tool, target, rounds);
    assert_eq!(one.len() as u64, WARM_UP_ROUNDS + rounds);
    let (bytes_again, two) = Surroundings::other(1).run(&tool, target, rounds);
    assert_same(target, &one, &two);
    assert!(bytes == bytes_again, "{name}: the rounds are equal, but not their bytes");
    let (_, three) = Surroundings::other(3).run(&tool, target, rounds);
    assert_same(target, &one, &three);
    if may_fix_the_layout() {
        let fixed = Surroundings { fixed: true, ..Surroundings::plain() };
        let (bytes_fixed, four) = fixed.run(&tool, target, rounds);
        assert_same(target, &one, &four);
        assert!(bytes == bytes_fixed, "{name}: not the same bytes at fixed addresses");
    }
}

#[test]
fn a_round_is_the_same_in_every_process_and_after_any_other_round() {
    for target in DIVERSE {
        repeats(target, 150);
    }
}

/// With an adapter that changes state of the C library in each round.
#[test]
fn state_left_in_the_c_library_does_not_affect_later_rounds() {
    repeats(data("determinism/leaves_traces.cpp"), 200);
}

/// With an adapter that throws, and draws random numbers from the C library.
#[test]
fn the_first_exception_of_a_process_is_like_any_other() {
    repeats(data("determinism/throws.cpp"), 200);
}

/// A round depends neither on the machine and the process nor on memory mapped in earlier rounds.
#[test]
fn answers_of_the_machine_are_the_same_everywhere() {
    repeats(data("determinism/asks_the_machine.cpp"), 200);
}

/// As by allocators, which initialise themselves when they are loaded.
#[test]
fn memory_that_is_mapped_while_the_target_is_loaded_is_put_back() {
    repeats(data("determinism/maps_at_load.cpp"), 50);
}

/// A dlopen in a round could not be undone.
#[test]
fn a_library_that_is_loaded_in_a_round_is_refused() {
    let tool = Tool::new();
    let text = adapters::enqueue(r#"if (!dlopen("libanl.so.1", RTLD_NOW)) abort();"#);
    let text = format!("#include <dlfcn.h>\n{text}");
    let run = tool.fuzz_text("loads.cpp", &text).controlled().rounds(30);
    run.expect(2, &["dlopen of libanl.so.1 in a round"]);
}

/// `cargo test --test it ten_thousand_rounds -- --ignored --nocapture`; TARGETS="a b" names others,
/// ROUNDS another number.
#[test]
#[ignore = "minutes"]
fn ten_thousand_rounds_are_the_same_again() {
    let named = std::env::var("TARGETS").unwrap_or_else(|_| DIVERSE.join(" "));
    let rounds = std::env::var("ROUNDS").map_or(10_000, |n| n.parse().expect("a number"));
    for target in named.split_whitespace() {
        repeats(target, rounds);
        println!("{target}: {rounds} rounds, four times the same");
    }
}

/// Records that a library keeps for later threads are no leaks.
#[test]
fn only_unreachable_memory_is_a_leak() {
    let tool = Tool::new();
    let leaky_rounds = |name: &str, text: String| {
        let json = tool.fuzz_text(name, &text).controlled().rounds(100).jobs(1).json(0);
        json["coverage"]["leaky_rounds"].as_u64().expect("a number")
    };
    let kept = "struct Node { Node *next; }; static Node *first; if (!first) first = new Node{};
                first->next = new Node{first->next};";
    assert_eq!(leaky_rounds("kept.cpp", adapters::enqueue(kept)), 0);
    let lost = format!("{kept} if (added == 1) first->next = nullptr;");
    assert!(leaky_rounds("lost.cpp", adapters::enqueue(&lost)) > 50);
}
