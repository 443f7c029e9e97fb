//! The native engine's figures: what a timebox costs over the bare call, how many calls are
//! recorded in a second, and how much memory long rounds take until they are checked.
//! `cargo bench --bench native`

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use interlap::adapter::cache::Cache;
use interlap::adapter::compile::{Request, Toolchain};
use interlap::adapter::sources::Sources;
use interlap::core::plan::{Plan, Shard, WARM_UP_ROUNDS};
use interlap::core::time_limit::TimeLimit;
use interlap::finding::Stored;
use interlap::finding::trust::Trusted;
use interlap::fuzz::{self, Observer, Options, Statistics, Warning};
use interlap::model::Spec;
use interlap::trace::frame::Hello;

fn main() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let harness = PathBuf::from(env!("CARGO_BIN_EXE_interlap-harness"));
    let toolchain = Toolchain::new(Cache::for_user().expect("a cache"), Sources::EMBEDDED);
    let toolchain = toolchain.expect("a compiler");
    let source = manifest.join("benches/trivial.cpp");
    let request = Request { source: source.clone(), ..Request::default() };
    let library = toolchain.compile(&request).expect("it compiles").library;

    println!("Cost of a timebox (one thread, 150 x 200 k calls of an empty target, ns)");
    let figures = Command::new(&harness).arg("--bench").arg(&library).output().expect("it starts");
    println!("  {}", String::from_utf8_lossy(&figures.stdout).trim_end());
    println!(
        "  goal: \"timebox\" at most 60 ns; \"markers\" is what the debuggers' markers have of it"
    );
    println!("  \"free\" are calls of which 64 share a box\n");

    println!("Recorded calls per second (2 threads, an empty target)");
    for calls in [100_000, 1_000_000, 3_000_000] {
        println!(
            "  {:>9} calls a thread: {:.1} M/s",
            calls,
            rate(&source, &library, &harness, calls)
        );
    }
    println!("  goal: at least 8 M/s\n");

    println!("Memory of long rounds (peak of both processes and the target, until checked)");
    let (empty, ..) = long_round("ms_queue", 50, 1);
    println!("  {:<24} {:>5.1} MiB: both processes with 50 threads", "before any call", mib(empty));
    for target in ["moodycamel", "ms_queue", "harris_set", "treiber_stack"] {
        for (threads, calls) in [(50, 10_000), (5, 1_000_000)] {
            memory(target, threads, calls, empty);
        }
    }
    println!("  goal: under 64 B per call (beyond the empty processes)");
}

/// Calls per second of the fastest of a few rounds, by the round's own stamps.
fn rate(source: &Path, library: &Path, harness: &Path, calls: u64) -> f64 {
    let mut plan = Plan::new(source.to_str().expect("UTF-8"), 1);
    (plan.threads, plan.calls, plan.disturb) = (2, Some(calls), false);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let options = Options {
        trusted: Trusted::by_user(),
        key: None,
        plan,
        jobs: 1,
        shard: Shard::ALL,
        library: library.to_path_buf(),
        harness: harness.to_path_buf(),
        sources: Default::default(),
        regressions: Default::default(),
        time: TimeLimit::none(),
        // The first sixteen rounds are sequential.
        rounds_max: Some(WARM_UP_ROUNDS + 5),
        findings_max: 1,
        known: Default::default(),
        hang_max: Duration::from_secs(60),
        directory: directory.path().to_path_buf(),
        keep: None,
        stop: Default::default(),
        wanted: None,
        leave_after: None,
        can_be_controlled: false,
    };
    let mut rates = Rates::default();
    fuzz::fuzz(&options, &mut rates).expect("it runs");
    rates.best
}

/// Takes the rate of each round from its statistics.
#[derive(Default)]
struct Rates {
    best: f64,
}

impl Observer for Rates {
    fn started(&mut self, _: &Hello, _: &Spec) {}
    fn progressed(&mut self, statistics: &Statistics) {
        self.best = self.best.max(statistics.calls_per_second_max / 1e6);
    }
    fn save(&mut self, _: &Stored, _: &Options) -> anyhow::Result<()> {
        Ok(())
    }
    fn found(&mut self, stored: &Stored) {
        panic!("an empty target is accused: {}", stored.finding.signature);
    }
    fn warned(&mut self, _: &Warning) {}
}

fn memory(target: &str, threads: u64, calls: u64, empty: u64) {
    let (peak, seconds, json) = long_round(target, threads, calls);
    let Some(operations) = json["operations"].as_u64() else {
        println!("  {target:<14} not available here");
        return;
    };
    let per_call = |bytes: u64| bytes as f64 / operations as f64;
    println!(
        "  {target:<14} {threads:>2} x {calls:<9} {:>5.1} B per call, {:>5.1} in all, \
         {seconds:.1} s, {}",
        per_call(peak.saturating_sub(empty)),
        per_call(peak),
        json["outcome"].as_str().unwrap_or("?"),
    );
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Runs one long round of single calls: peak memory, seconds, and the summary.
fn long_round(target: &str, threads: u64, calls: u64) -> (u64, f64, serde_json::Value) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlap"));
    command.args(["fuzz", target, "--seed", "1", "--rounds", "1", "--json"]);
    command.args(["--threads", &threads.to_string(), "--calls", &calls.to_string()]);
    if target == "moodycamel" {
        command.args(["--weight", "enqueue_bulk=0", "--weight", "dequeue_bulk=0"]);
    }
    let child = command
        .args(["--for", "10m", "--hang", "60s"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    watch(child)
}

/// Peak of the resident memory of a process and its children, its time, and what it printed.
fn watch(mut child: Child) -> (u64, f64, serde_json::Value) {
    let started = Instant::now();
    let mut peak = 0;
    while child.try_wait().expect("a child of ours").is_none() {
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let ids = children.split_whitespace().map(str::to_string).chain([child.id().to_string()]);
        peak = peak.max(ids.map(|id| resident(&id)).sum());
        std::thread::sleep(Duration::from_millis(2));
    }
    let seconds = started.elapsed().as_secs_f64();
    let output = child.wait_with_output().expect("it has ended");
    (peak, seconds, serde_json::from_slice(&output.stdout).unwrap_or_default())
}

/// Resident bytes of a process, shared memory included.
fn resident(id: &str) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    pages * 4096
}
