//! The controlled engine's figures, on a Michael-Scott queue with 3 threads of 8 calls each: rounds
//! per CPU second in the harness, with each scheduling policy, either carrier, and what is looked
//! for; and rounds per second from end to end. `cargo bench --bench engine`

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use interlap::adapter::cache::Cache;
use interlap::adapter::compile::{Flavour, Request, Toolchain};
use interlap::adapter::sources::Sources;
use interlap::core::plan::{
    Carrier, Control, Engine, Job, MemoryModel, Plan, Races, Shard, WARM_UP_ROUNDS,
};
use interlap::core::time_limit::TimeLimit;
use interlap::finding::Stored;
use interlap::finding::trust::Trusted;
use interlap::fuzz::{self, Observer, Options, Statistics, Warning};
use interlap::model::Spec;
use interlap::trace::frame::Hello;

const TARGET: &str = "targets/ms_queue.cpp";
/// The policies of the first table; without one, all take turns as in a run.
const POLICIES: [Option<&str>; 8] = [
    None,
    Some("walk:1"),
    Some("walk:20"),
    Some("pct:3"),
    Some("pos"),
    Some("surw"),
    Some("delay:2"),
    Some("stall"),
];
const TURNS: &str = "all in turns";
/// Those of the second: what fibers save is switches, of which the policies make few or many.
const SWITCHING: [Option<&str>; 3] = [None, Some("walk:20"), Some("walk:50")];
/// The rounds of the third, all of which are judged, as in a run; beside the first.
const LOOKING: [(&str, Races, MemoryModel, &str); 5] = [
    ("no races, sc", Races::Off, MemoryModel::Sc, ""),
    ("as in a run", Races::Some, MemoryModel::Some, "; goal: at least 85 %"),
    ("races in each", Races::All, MemoryModel::Sc, "; goal: at least 60 %"),
    ("tso in each", Races::Off, MemoryModel::Tso, ""),
    ("c11 in each", Races::Off, MemoryModel::C11, "; goal: at least 50 %"),
];
const FIBER_ROUNDS: u64 = 40_000;
const THREAD_ROUNDS: u64 = 4_000;
/// Everything is measured so many times, by turns: other work on the machine takes up to half of
/// the speed for seconds on end, and what a harness can do is the best.
const PASSES: usize = 9;
const SWITCHING_PASSES: usize = 3;
const LOOKED_AT: [&str; 4] =
    [TARGET, "targets/treiber_stack.cpp", "targets/chase_lev.cpp", "targets/mutex_map.cpp"];
const JOBS: u64 = 2;
const CHECKED_ROUNDS: u64 = 200_000;

fn main() {
    let bench = Bench::new(TARGET);
    println!("MS queue, 3 threads x 8 calls: rounds per CPU second in the harness");
    println!("  {:<16} {:>8} {:>8}", "", "best", "median");
    let mut rates = POLICIES.map(|_| Vec::new());
    for _ in 0..PASSES {
        for (policy, rates) in POLICIES.iter().zip(&mut rates) {
            rates.push(bench.harness(&policy_on(*policy, Carrier::Fiber), FIBER_ROUNDS));
        }
    }
    for (policy, rates) in POLICIES.iter().zip(&mut rates) {
        let (best, median) = best_and_median(rates);
        println!("  {:<16} {best:>8.0} {median:>8.0}", policy.unwrap_or(TURNS));
    }
    println!("  goal: all in turns at least 50000\n");

    println!("The same on an operating-system thread for each thread, beside fibers (medians)");
    for policy in SWITCHING {
        let (mut fibers, mut threads) = (Vec::new(), Vec::new());
        for _ in 0..SWITCHING_PASSES {
            fibers.push(bench.harness(&policy_on(policy, Carrier::Fiber), FIBER_ROUNDS));
            threads.push(bench.harness(&policy_on(policy, Carrier::Thread), THREAD_ROUNDS));
        }
        let (fibers, threads) = (best_and_median(&mut fibers).1, best_and_median(&mut threads).1);
        let (name, ratio) = (policy.unwrap_or(TURNS), fibers / threads);
        println!("  {name:<16} {threads:>8.0} {fibers:>8.0}: {ratio:.1} times as many");
    }
    println!("  goal: at least 20 times where threads are switched often\n");
    looking();

    let (wall, cpu) = bench.end_to_end();
    println!("From end to end, every round checked, {JOBS} harnesses");
    println!("  {wall:>8.0} rounds a second, {cpu:.0} per CPU second of all processes");
    let alone = best_and_median(&mut rates[0]).1;
    println!("  that is {:.2} of what the harness alone does in a CPU second", wall / alone);
    println!("  goal: at least 30000 rounds a second on 2 processors");
}

/// All policies in turns.
fn looking() {
    println!("With what is looked for, every round judged, all policies in turns (medians)");
    for target in LOOKED_AT {
        let bench = Bench::new(target);
        let mut rates = LOOKING.map(|_| Vec::new());
        for _ in 0..PASSES {
            for ((_, races, memory_model, _), rates) in LOOKING.iter().zip(&mut rates) {
                let (races, memory_model) = (*races, *memory_model);
                let control = Control { races, memory_model, ..policy_on(None, Carrier::Fiber) };
                rates.push(bench.judging(&control, FIBER_ROUNDS));
            }
        }
        let medians = rates.map(|mut rates| best_and_median(&mut rates).1);
        for ((name, .., goal), rate) in LOOKING.iter().zip(medians) {
            let part = 100.0 * rate / medians[0];
            println!("  {target:<26} {name:<14} {rate:>8.0}: {part:.0} %{goal}");
        }
    }
    println!();
}

fn policy_on(policy: Option<&str>, carrier: Carrier) -> Control {
    Control { policy: policy.map(str::to_string), carrier, ..Plan::new(TARGET, 1).control }
}

fn best_and_median(rates: &mut [f64]) -> (f64, f64) {
    rates.sort_by(f64::total_cmp);
    (rates[rates.len() - 1], rates[rates.len() / 2])
}

/// What all measurements share.
struct Bench {
    target: &'static str,
    harness: PathBuf,
    library: PathBuf,
    scratch: tempfile::TempDir,
}

impl Bench {
    fn new(target: &'static str) -> Bench {
        let toolchain = Toolchain::new(Cache::for_user().expect("a cache"), Sources::EMBEDDED);
        let request = Request {
            source: Path::new(env!("CARGO_MANIFEST_DIR")).join(target),
            flavour: Flavour::Hooked,
            ..Request::default()
        };
        let compiled = toolchain.expect("a compiler").compile(&request).expect("it compiles");
        Bench {
            target,
            harness: PathBuf::from(env!("CARGO_BIN_EXE_interlap-harness")),
            library: compiled.library,
            scratch: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    fn plan(&self, control: &Control) -> Plan {
        let plan = Plan { control: control.clone(), ..Plan::new(self.target, 1) };
        Plan { engine: Engine::Controlled, threads: 3, calls: Some(8), ..plan }
    }

    /// Rounds per CPU second of a harness whose rounds nobody reads.
    fn harness(&self, control: &Control, rounds: u64) -> f64 {
        self.rate(control, rounds, false)
    }

    /// The same, where it judges the rounds itself.
    fn judging(&self, control: &Control, rounds: u64) -> f64 {
        self.rate(control, rounds, true)
    }

    fn rate(&self, control: &Control, rounds: u64, judges: bool) -> f64 {
        let job = Job {
            plan: self.plan(control),
            library: self.library.clone(),
            round_first: 0,
            round_step: 1,
            round_end: Some(rounds),
            hang_milliseconds: 60_000,
            milliseconds_max: None,
            races_known: Vec::new(),
            weakened: Vec::new(),
            judges,
            directory: self.scratch.path().to_path_buf(),
        };
        let job_file = self.scratch.path().join("job.json");
        std::fs::write(&job_file, serde_json::to_vec(&job).expect("JSON")).expect("room");
        let before = children_cpu_seconds();
        let mut command = Command::new(&self.harness);
        command.arg(&job_file).stdin(Stdio::null()).stdout(Stdio::null());
        assert!(command.status().expect("it starts").success());
        rounds as f64 / (children_cpu_seconds() - before)
    }

    /// Rounds per second, and per CPU second of this process and its harnesses.
    fn end_to_end(&self) -> (f64, f64) {
        let options = Options {
            trusted: Trusted::by_user(),
            key: None,
            plan: self.plan(&policy_on(None, Carrier::Fiber)),
            jobs: JOBS,
            shard: Shard::ALL,
            library: self.library.clone(),
            harness: self.harness.clone(),
            sources: Default::default(),
            regressions: Default::default(),
            time: TimeLimit::none(),
            rounds_max: Some(CHECKED_ROUNDS),
            findings_max: 1,
            known: Default::default(),
            hang_max: Duration::from_secs(60),
            directory: self.scratch.path().join("findings"),
            keep: None,
            stop: Default::default(),
            wanted: None,
            leave_after: None,
            can_be_controlled: false,
        };
        let before = own_cpu_seconds() + children_cpu_seconds();
        let summary = fuzz::fuzz(&options, &mut Quiet).expect("it runs");
        let cpu = own_cpu_seconds() + children_cpu_seconds() - before;
        let statistics = summary.statistics;
        assert_eq!(statistics.rounds + WARM_UP_ROUNDS, CHECKED_ROUNDS);
        assert!(statistics.inconclusive.is_empty(), "all are decided");
        let rounds = CHECKED_ROUNDS as f64;
        (rounds / statistics.elapsed.as_secs_f64(), rounds / cpu)
    }
}

struct Quiet;

impl Observer for Quiet {
    fn started(&mut self, _: &Hello, _: &Spec) {}
    fn progressed(&mut self, _: &Statistics) {}
    fn save(&mut self, _: &Stored, _: &Options) -> anyhow::Result<()> {
        Ok(())
    }
    fn found(&mut self, stored: &Stored) {
        panic!("a correct queue is accused: {}", stored.finding.signature);
    }
    fn warned(&mut self, _: &Warning) {}
}

fn own_cpu_seconds() -> f64 {
    ticks(13..15)
}

/// Of the processes that were waited for.
fn children_cpu_seconds() -> f64 {
    ticks(15..17)
}

/// The sum of these fields of `/proc/self/stat` (proc(5), from 0), in seconds.
fn ticks(fields: std::ops::Range<usize>) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // Field 1, the command's name, may hold spaces; field 2 comes after its parenthesis.
    let (_, rest) = stat.rsplit_once(") ").expect("a command");
    let fields = rest.split(' ').skip(fields.start - 2).take(fields.len());
    let ticks: f64 = fields.map(|field| field.parse::<f64>().expect("a number")).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}
