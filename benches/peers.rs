//! The figures beside which users put those of other tools: rounds per CPU second of all
//! processes, and how long until each broken twin is found. `make bench-peers`, with
//! `PART=rounds|floor|jobs|findings|native|specifications` for a part alone. The states of a
//! specification in TLA+ are counted, too, if `SPECIFICATION` names its file.
//!
//! The figures of Relacy (random scheduler) and of a plain stress loop of 50 lines were measured in
//! November 2026 on the same three algorithms, with 2 busy processors.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use interlap::adapter::cache::Cache;
use interlap::adapter::compile::{Flavour, Request, Toolchain};
use interlap::adapter::sources::Sources;
use interlap::core::plan::{Engine, Job, Plan, WARM_UP_ROUNDS};
use interlap::core::random::Random;
use interlap::tla::covering::reachable;
use interlap::tla::{Constants, Specification, Value as TlaValue};
use serde_json::Value;

const ROUNDS: u64 = 100_000;
const SEEDS: u64 = 20;
/// The floor is measured so many times: other work on the machine only adds to it.
const PASSES: usize = 7;
/// Native threads are given up after this time.
const NATIVE_SECONDS: f64 = 10.0;

/// A shape of rounds, and what is wanted of it, in thousands of rounds per CPU second.
struct Rounds {
    target: &'static str,
    size: (u64, u64),
    policy: Option<&'static str>,
    relacy: Option<f64>,
    goal: f64,
}

const fn rounds(
    target: &'static str,
    size: (u64, u64),
    policy: Option<&'static str>,
    relacy: Option<f64>,
    goal: f64,
) -> Rounds {
    Rounds { target, size, policy, relacy, goal }
}

/// A stack behind a lock that is its own model: each round is made again, one call at a time.
const ITSELF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/custom/stack.cpp");
const WALK: Option<&str> = Some("walk:20");
const SHAPES: [Rounds; 8] = [
    rounds("ms_queue", (3, 8), WALK, Some(87.0), 150.0),
    rounds("treiber_stack", (3, 8), WALK, Some(120.0), 180.0),
    rounds("chase_lev", (3, 8), WALK, Some(200.0), 220.0),
    rounds("ms_queue", (3, 8), None, None, 120.0),
    rounds("ms_queue", (3, 3), WALK, Some(200.0), 350.0),
    rounds("ms_queue", (8, 8), WALK, Some(14.8), 35.0),
    rounds(ITSELF, (3, 4), None, None, 2.0),
    rounds(ITSELF, (4, 8), None, None, 2.0),
];

/// CPU seconds of Relacy to the first finding, where they were measured.
const TWINS: [(&str, Option<f64>); 14] = [
    ("treiber_aba", Some(0.003)),
    ("ms_queue_no_recheck", Some(0.003)),
    ("chase_lev_no_fence", None),
    ("atomic_register_split_cas", None),
    ("harris_set_marked_contains", None),
    ("locked_kv_lost_append", None),
    ("ms_queue_untagged", None),
    ("mutex_map_lost_update", None),
    ("range_set_torn_count", None),
    ("ring_mpmc_early_publish", None),
    ("ring_spsc_early_publish", None),
    ("set_undecided_insert", None),
    ("slot_log_early_tail", None),
    ("versioned_store_lost_update", None),
];
const FINDING_GOAL: f64 = 0.05;

/// Seconds of the plain loop, and the goal.
const NATIVE: [(&str, f64, f64); 3] = [
    ("treiber_aba", 0.39, 0.4),
    ("ms_queue_no_recheck", 0.3, 0.3),
    ("chase_lev_no_fence", 0.002, 0.01),
];

fn main() {
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let parts: [(&str, fn()); 6] = [
        ("rounds", rounds_per_cpu_second),
        ("floor", floor),
        ("jobs", jobs),
        ("findings", first_findings),
        ("native", native),
        ("specifications", specifications),
    ];
    for (name, part) in parts {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            part();
            println!();
        }
    }
}

/// What a run took.
struct Took {
    seconds: f64,
    /// Of all its processes.
    cpu: f64,
    json: Value,
}

/// Runs `interlap fuzz` on a target.
fn fuzz(target: &str, options: &[&str]) -> Took {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlap"));
    command.args(["fuzz", target, "--json", "--shrink", "0s"].iter().chain(options));
    command.current_dir(folder.path());
    let (before, started) = (children_cpu_seconds(), Instant::now());
    let output = command.output().expect("it starts");
    let seconds = started.elapsed().as_secs_f64();
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{target} {options:?}: {error}, {}: {said}", output.status);
    });
    Took { seconds, cpu: children_cpu_seconds() - before, json }
}

/// Runs rounds of a shape, until `limit` says.
fn run(shape: &Rounds, jobs: u64, limit: [&str; 2]) -> Took {
    let (threads, calls) = shape.size;
    let numbers = [threads, calls, jobs].map(|number| number.to_string());
    let mut options = vec!["--engine", "controlled", "--seed", "1", "--threads", &numbers[0]];
    options.extend(["--calls", &numbers[1], "--jobs", &numbers[2]].into_iter().chain(limit));
    options.extend(shape.policy.iter().flat_map(|policy| ["--policy", policy]));
    let took = fuzz(shape.target, &options);
    assert_eq!(took.json["outcome"], "nothing-found", "a correct structure is not accused");
    took
}

/// Thousands of rounds of a shape per CPU second of all processes.
fn rate(shape: &Rounds) -> f64 {
    ROUNDS as f64 / run(shape, 2, ["--rounds", &ROUNDS.to_string()]).cpu / 1e3
}

/// Medians of three, since other work on the machine comes and goes.
fn rounds_per_cpu_second() {
    println!("Thousands of checked rounds per CPU second of all processes (2 jobs)");
    println!("  {:<16} {:<7} {:<8} {:>8} {:>8} {:>8}", "", "", "", "here", "Relacy", "goal");
    for shape in &SHAPES {
        let rate = median((0..3).map(|_| rate(shape)));
        let (threads, calls) = shape.size;
        println!(
            "  {:<16} {threads} x {calls:<3} {:<8} {rate:>8.1} {:>8} {:>8}",
            Path::new(shape.target).file_stem().expect("a name").display(),
            shape.policy.unwrap_or("all"),
            or_dash(shape.relacy),
            shape.goal
        );
    }
}

/// What a round of the harness costs beside its calls alone, with and without hooks.
fn floor() {
    println!(
        "A round in the harness, judged, beside its calls alone (us; the fastest of {PASSES})"
    );
    println!("  {:<16} {:>9} {:>6} {:>14} {:>6}", "", "harness", "calls", "calls + hooks", "times");
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let [plain, hooked] = [Flavour::Plain, Flavour::Hooked];
    for shape in SHAPES.iter().filter(|shape| shape.policy.is_some()) {
        let fastest = |rounds: u64, flavour, start: fn(&Path, &Path) -> f64| {
            let job = job(shape, rounds, flavour, scratch.path());
            (0..PASSES).map(|_| start(&job, scratch.path())).fold(f64::INFINITY, f64::min)
        };
        let harness = fastest(20_000, hooked, cpu_of_harness) / 20_000.0 * 1e6;
        let [bare, hooks] = [plain, hooked].map(|flavour| fastest(500, flavour, calls_alone) / 1e3);
        let (threads, calls) = shape.size;
        println!(
            "  {:<12} {threads}x{calls} {harness:>9.1} {bare:>6.2} {hooks:>14.2} {:>6.1}",
            shape.target,
            harness / hooks
        );
    }
    println!("  goal: 4 times the calls with hooks that only count");
}

/// Writes a job of these rounds; gives its file.
fn job(shape: &Rounds, rounds: u64, flavour: Flavour, scratch: &Path) -> PathBuf {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("targets/{}.cpp", shape.target));
    let toolchain = Toolchain::new(Cache::for_user().expect("a cache"), Sources::EMBEDDED);
    let request = Request { source, flavour, ..Request::default() };
    let library = toolchain.expect("a compiler").compile(&request).expect("it compiles").library;
    let mut plan = Plan::new(shape.target, 1);
    (plan.engine, plan.threads, plan.calls) =
        (Engine::Controlled, shape.size.0 as u32, Some(shape.size.1));
    plan.control.policy = shape.policy.map(str::to_string);
    let job = Job {
        plan,
        library,
        round_first: WARM_UP_ROUNDS,
        round_step: 1,
        round_end: Some(WARM_UP_ROUNDS + rounds),
        hang_milliseconds: 60_000,
        milliseconds_max: None,
        races_known: Vec::new(),
        weakened: Vec::new(),
        judges: true,
        directory: scratch.to_path_buf(),
    };
    let file = scratch.join("job.json");
    std::fs::write(&file, serde_json::to_vec(&job).expect("JSON")).expect("room");
    file
}

/// CPU seconds of a harness that nobody listens to.
fn cpu_of_harness(job: &Path, scratch: &Path) -> f64 {
    let before = children_cpu_seconds();
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlap-harness"));
    command.arg("--alone").arg(job).arg(scratch.join("frames"));
    assert!(command.stderr(Stdio::null()).status().expect("it starts").success());
    children_cpu_seconds() - before
}

/// Nanoseconds of the calls of a round alone.
fn calls_alone(job: &Path, _scratch: &Path) -> f64 {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlap-harness"));
    let output = command.arg("--bench-rounds").arg(job).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.trim().parse().unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Rounds of runs that take the same time, so that their beginnings do not count.
fn jobs() {
    let rate = |jobs| {
        median((0..3).map(|_| {
            let json = run(&SHAPES[3], jobs, ["--for", "3s"]).json;
            let number = |key: &str| json[key].as_f64().expect("a number");
            number("rounds") / number("seconds") / 1e3
        }))
    };
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    println!("Thousands of rounds per second (MS queue, 3 x 8; {processors} processors)");
    let one = rate(1);
    println!("  {:>2} job  {one:>8.1}", 1);
    for jobs in [2, 4, 8, 16].into_iter().filter(|jobs| *jobs <= processors) {
        let rate = rate(jobs);
        println!("  {jobs:>2} jobs {rate:>8.1}: {:.2} times as many", rate / one);
    }
    println!("  goal: 2 jobs 1.9 times, on a machine that does nothing else");
}

fn first_findings() {
    println!(
        "The first finding of a compiled adapter, from start to end: medians of {SEEDS} seeds"
    );
    println!("  {:<28} {:>6} {:>6} {:>7} {:>7}", "", "CPU s", "s", "round", "Relacy");
    for (twin, relacy) in TWINS {
        fuzz(twin, &["--engine", "controlled", "--rounds", "1"]);
        let found: Vec<Took> = (0..SEEDS).map(|seed| first_finding(twin, seed)).collect();
        let round = |took: &Took| took.json["findings"][0]["round"].as_u64().expect("found") as f64;
        println!(
            "  {twin:<28} {:>6.3} {:>6.3} {:>7} {:>7}",
            median(found.iter().map(|took| took.cpu)),
            median(found.iter().map(|took| took.seconds)),
            median(found.iter().map(round)),
            or_dash(relacy)
        );
    }
    println!("  goal: {FINDING_GOAL} CPU s each");
}

fn first_finding(twin: &str, seed: u64) -> Took {
    let seed = seed.to_string();
    let options = ["--engine", "controlled", "--findings", "1", "--for", "60s", "--seed", &seed];
    fuzz(twin, &options)
}

fn native() {
    println!("Native threads, seconds to the first finding: medians of {SEEDS} seeds");
    println!("  {:<28} {:>6} {:>10} {:>6}", "", "here", "plain loop", "goal");
    for (twin, plain, goal) in NATIVE {
        fuzz(twin, &["--engine", "native", "--rounds", "1"]);
        let seconds = (0..SEEDS).map(|seed| {
            let (seed, most) = (seed.to_string(), format!("{NATIVE_SECONDS}s"));
            let options = ["--engine", "native", "--findings", "1", "--for", &most];
            let took = fuzz(twin, &[&options[..], &["--seed", &seed]].concat());
            let after = took.json["findings"][0]["after_seconds"].as_f64();
            after.unwrap_or(NATIVE_SECONDS)
        });
        println!("  {twin:<28} {:>6.3} {plain:>10} {goal:>6}", median(seconds));
    }
    println!("  given up after {NATIVE_SECONDS} s, which then count");
}

fn or_dash(number: Option<f64>) -> String {
    number.map_or("-".to_string(), |number| number.to_string())
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Of the processes that were waited for, and of those that they waited for.
fn children_cpu_seconds() -> f64 {
    cpu_seconds(libc::RUSAGE_CHILDREN)
}

fn cpu_seconds(of: libc::c_int) -> f64 {
    // SAFETY: a structure of plain numbers, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(of, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// A specification, and how long its calls wait between each other, with the goal in CPU seconds.
/// TLC took 6.3 for such a queue and 4.1 for such a set (breadth first the queue has too many
/// levels for it), measured in November 2026 on the same machine.
const HISTORIES: [(&str, (u64, u64), Option<f64>); 4] = [
    ("Queue", (300, 900), None),
    ("Queue", (50, 250), Some(0.5)),
    ("Set", (50, 250), Some(0.2)),
    ("Set", (1, 30), None),
];
const CALLS: u64 = 50_000;

/// Steps of actions, and files of 50,000 calls of five threads.
fn specifications() {
    println!("CPU nanoseconds of a step of a specification in TLA+ (goal: twice the other figure)");
    for (file, name, args, state, goal) in [
        ("Queue", "Enqueue", vec![6], 1, 195),
        ("Queue", "Dequeue", vec![], 5, 259),
        ("Set", "Insert", vec![77], 10, 422),
    ] {
        println!("  {file} {name:<12} {:>6.0} {goal:>6}", step(file, name, &args, state));
    }
    println!("CPU seconds of `interlap check` on {CALLS} calls of 5 threads");
    println!("  {:<8} {:<14} {:>8} {:>8}", "", "pauses", "here", "goal");
    for (file, pauses, goal) in HISTORIES {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("history.jsonl");
        std::fs::write(&path, history(file, pauses)).expect("written");
        let cpu = median((0..3).map(|_| {
            let before = children_cpu_seconds();
            let mut command = Command::new(env!("CARGO_BIN_EXE_interlap"));
            command.arg("check").arg(&path).arg("--model").arg(specification(file));
            let output = command.output().expect("it starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            children_cpu_seconds() - before
        }));
        let pauses = format!("{} to {}", pauses.0, pauses.1);
        println!("  {file:<8} {pauses:<14} {cpu:>8.2} {:>8}", or_dash(goal));
    }
    if let Some(path) = std::env::var_os("SPECIFICATION") {
        count_states(Path::new(&path));
    }
}

/// All states of a specification, as a model checker finds them.
fn count_states(path: &Path) {
    // SAFETY: gives back memory that nobody holds.
    unsafe { libc::malloc_trim(0) };
    // From here on the peak is that of this alone (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5").expect("the kernel takes it");
    let (held, before) = (mebibytes("VmRSS"), cpu_seconds(libc::RUSAGE_SELF));
    let read = Specification::load(path, &Constants::new()).unwrap_or_else(|why| panic!("{why}"));
    let states = reachable(&read, usize::MAX).expect("it says what its steps are").len();
    let seconds = cpu_seconds(libc::RUSAGE_SELF) - before;
    let memory = mebibytes("VmHWM") - held;
    let path = path.display();
    println!(
        "{path} has {states} states: {seconds:.2} CPU seconds, {memory:.1} MiB more than before"
    );
}

/// What /proc/self/status says of this process's memory.
fn mebibytes(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kibibytes.expect("a number") / 1024.0
}

fn specification(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tla").join(format!("{file}.tla"))
}

/// Nanoseconds of a step of an action, with so many elements inside; the fastest of several passes.
fn step(file: &str, name: &str, args: &[i64], elements: i64) -> f64 {
    const STEPS: u32 = 50_000;
    let named = |name: &str| (name.to_string(), TlaValue::Model(name.into()));
    let constants = Constants::from(["Empty", "Done", "Failed", "None"].map(named));
    let read = Specification::load(&specification(file), &constants).expect("it is one");
    let adds = read.action(if file == "Queue" { "Enqueue" } else { "Insert" });
    let adds = adds.expect("it adds").as_ref().expect("an action");
    let mut state = read.begin().expect("it begins").remove(0);
    for value in 0..elements {
        let added = read.steps(adds, &state, &[TlaValue::Int(value)]);
        state = added.expect("it adds").remove(0).next;
    }
    let action = read.action(name).expect("it has it").as_ref().expect("an action");
    let mut args: Vec<TlaValue> = args.iter().copied().map(TlaValue::Int).collect();
    // An insert that has answered yes; what a dequeue answers is left open.
    args.extend((file == "Set").then(|| TlaValue::Model("None".into())));
    let pass = |_| {
        let before = cpu_seconds(libc::RUSAGE_SELF);
        for _ in 0..STEPS {
            assert!(!read.steps(action, &state, &args).expect("it can").is_empty());
        }
        (cpu_seconds(libc::RUSAGE_SELF) - before) * 1e9 / f64::from(STEPS)
    };
    (0..PASSES).map(pass).fold(f64::INFINITY, f64::min)
}

/// Calls that take effect somewhere in their boxes, as JSON Lines.
fn history(file: &str, (shortest, longest): (u64, u64)) -> String {
    let mut random = Random::new(3);
    let mut from = |low: u64, high: u64| random.between(low, high);
    let mut free = [0; 5].map(|_: u64| from(0, longest));
    let mut boxes = Vec::new();
    for _ in 0..CALLS {
        let thread = (0..free.len()).min_by_key(|at| free[*at]).expect("five");
        let start = free[thread];
        let end = start + from(2, 200);
        boxes.push((from(start, end), start, end, thread));
        free[thread] = end + from(shortest, longest);
    }
    boxes.sort_unstable();
    let (mut queue, mut added, mut keys) = (VecDeque::new(), 0, 0u64);
    let mut lines = Vec::new();
    for (_, start, end, thread) in boxes {
        let of = format!("\"thread\": {thread}, \"start\": {start}, \"end\": {end}");
        let said = if file == "Set" {
            let (key, op) = (from(0, 9), ["insert", "remove", "contains"][from(0, 2) as usize]);
            let was = keys >> key & 1 == 1;
            match op {
                "insert" => keys |= 1 << key,
                "remove" => keys &= !(1 << key),
                _ => {}
            }
            let status = if was == (op != "insert") { "ok" } else { "failed" };
            format!("\"op\": \"{op}\", \"args\": [{key}], \"status\": \"{status}\"")
        } else if from(0, 1) == 1 {
            added += 1;
            queue.push_back(added);
            format!("\"op\": \"enqueue\", \"args\": [{added}]")
        } else {
            match queue.pop_front() {
                Some(value) => format!("\"op\": \"dequeue\", \"results\": [{value}]"),
                None => "\"op\": \"dequeue\", \"status\": \"empty\"".to_string(),
            }
        };
        lines.push((start, format!("{{{said}, {of}}}\n")));
    }
    lines.sort_unstable();
    lines.into_iter().map(|(_, line)| line).collect()
}
