//! How many rounds a second the main program takes in from its harnesses: read, decoded, judged
//! and counted. `cargo bench --bench pipeline [jobs]` lets scripts that copy prepared rounds of 24
//! calls to the pipe stand for the harnesses, and prints rounds a second and CPU time per round.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use interlap::core::history::{Entry, History, Thread};
use interlap::core::method::Methods;
use interlap::core::operation::{Op, Status};
use interlap::core::plan::{Clock, Engine, Plan, Shard};
use interlap::core::time_limit::TimeLimit;
use interlap::finding::Stored;
use interlap::finding::trust::Trusted;
use interlap::fuzz::exercise::Counter;
use interlap::fuzz::{Observer, Options, Statistics, Warning, fuzz};
use interlap::model::Spec;
use interlap::trace::frame::{
    Bye, ClockInfo, Frame, Hello, Records, RoundEnd, RoundStart, Steps, TRACE_VERSION, TargetInfo,
    write,
};
use interlap::trace::judged::SAMPLED_FIRST;
use interlap::trace::records;
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: u64 = 100_000;
const SCRIPT: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
cat hello
cat >/dev/null
exec cat rounds-$(grep -o '"round_first":[0-9]*' "$1" | grep -o '[0-9]*$')
"#;

/// One thread's calls: it adds a value and takes one, four times, while the others do.
fn calls(thread: u32) -> Thread {
    let mut calls = Thread::new(thread);
    for at in 0..4i64 {
        let (value, start) = (1000 * i64::from(thread) + at, 100 * at as u64 + u64::from(thread));
        let status = Status::Ok;
        let (args, results) = (&[value][..], &[][..]);
        let add = Entry { op: Op::Enqueue, status, start, end: start + 10, args, results };
        let (start, end, args, results) = (start + 50, start + 60, results, args);
        let take = Entry { op: Op::Dequeue, status, start, end, args, results };
        calls.push(add).and_then(|()| calls.push(take)).expect("calls in order");
    }
    calls
}

/// Nanoseconds for what a round exercised to be counted, beside its check: a mean over rounds of
/// which some are looked at closely.
fn counting() -> f64 {
    let threads = (0..3).map(calls).collect();
    let history = History { threads, drained: true, ..History::default() };
    let (mut counter, mut all) = (Counter::default(), Counter::default());
    let before = cpu_seconds();
    for round in SAMPLED_FIRST..SAMPLED_FIRST + ROUNDS {
        counter.begin(round, 3);
        counter.add(round, 3, std::hint::black_box(&history));
        // As often as a worker tells what it counted.
        if round % 680 == 0 {
            all.join(std::mem::take(&mut counter));
        }
    }
    let nanoseconds = (cpu_seconds() - before) * 1e9 / ROUNDS as f64;
    assert!(all.combinations() > 0, "the rounds overlap");
    nanoseconds
}

fn round(bytes: &mut Vec<u8>, round: u64) {
    let history = History { threads: (0..3).map(calls).collect(), ..History::default() };
    let start = RoundStart { round, threads: 3, calls: 8, sequential: false, fresh: false };
    let mut put = |frame| write(bytes, &frame).expect("memory");
    put(Frame::Round(start));
    for thread in 0..3 {
        put(Frame::Records(Records {
            thread,
            bytes: records::encode(&history, thread, &Methods::default()),
        }));
    }
    let steps = Some(Box::new(Steps {
        policy: "pct:3".to_string(),
        steps: 400,
        switches: 40,
        schedule: round.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        atomics: 300,
        blocking: 0,
        pairs: Vec::new(),
        leaked_blocks: 0,
        leaked_bytes: 0,
        recorded: None,
        trail: None,
    }));
    put(Frame::End(RoundEnd { steps, ..RoundEnd::new(round, true) }));
}

/// Writes what the harnesses send.
fn prepare(folder: &Path, jobs: u64, plan: &Plan) {
    let target = TargetInfo {
        library: String::new(),
        version: String::new(),
        model: "fifo-per-producer".to_string(),
        operations: vec![Op::Enqueue, Op::Dequeue],
        thread_max: 0,
        capacity: 0,
        block_size: 0,
    };
    let clock = ClockInfo { clock: Clock::Tsc, refused: None, nanoseconds_per_unit: 1.0 };
    let (version, plan) = (TRACE_VERSION, plan.clone());
    let hello = Hello {
        version,
        plan,
        target,
        clock,
        area_fd: None,
        process: None,
        code: None,
        warnings: vec![],
        unhooked: vec![],
    };
    let file = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("room");
    let mut bytes = Vec::new();
    write(&mut bytes, &Frame::Hello(Box::new(hello))).expect("memory");
    file("hello", &bytes);
    for job in 0..jobs {
        let mut bytes = Vec::new();
        (0..ROUNDS).for_each(|number| round(&mut bytes, job + jobs * number));
        write(&mut bytes, &Frame::Bye(Bye::new(None, None))).expect("memory");
        file(&format!("rounds-{job}"), &bytes);
    }
    file("harness", SCRIPT.as_bytes());
    let mode = PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.join("harness"), mode).expect("our own file");
}

struct Quiet;

impl Observer for Quiet {
    fn started(&mut self, _: &Hello, _: &Spec) {}
    fn progressed(&mut self, _: &Statistics) {}
    fn save(&mut self, _: &Stored, _: &Options) -> anyhow::Result<()> {
        Ok(())
    }
    fn found(&mut self, stored: &Stored) {
        panic!("good rounds are accused: {}", stored.finding.signature);
    }
    fn warned(&mut self, _: &Warning) {}
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() {
    let number = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let jobs: u64 = number.unwrap_or(2);
    let folder = tempfile::tempdir().expect("a temporary directory");
    let plan = Plan { engine: Engine::Controlled, ..Plan::new("bench", 1) };
    prepare(folder.path(), jobs, &plan);
    let options = Options {
        trusted: Trusted::by_user(),
        key: None,
        plan,
        jobs,
        shard: Shard::ALL,
        library: "none".into(),
        harness: folder.path().join("harness"),
        sources: Default::default(),
        regressions: Default::default(),
        time: TimeLimit::of(Duration::from_secs(600)),
        rounds_max: Some(jobs * ROUNDS),
        findings_max: 1,
        known: Default::default(),
        hang_max: Duration::from_secs(60),
        directory: folder.path().join("findings"),
        keep: None,
        stop: Default::default(),
        wanted: None,
        leave_after: None,
        can_be_controlled: false,
    };
    let before = cpu_seconds();
    let summary = fuzz(&options, &mut Quiet).expect("it runs");
    let cpu = cpu_seconds() - before;
    let rounds = summary.statistics.rounds;
    assert_eq!(rounds, jobs * ROUNDS);
    let (rate, micros) =
        (rounds as f64 / summary.statistics.elapsed.as_secs_f64(), cpu / rounds as f64 * 1e6);
    println!("{jobs} jobs: {rate:.0} rounds of 24 calls a second, {micros:.2} us of CPU time each");
    println!("of that {:.2} us to count what the round exercised", counting() / 1e3);
    println!("goal: 30000 rounds a second beside the harnesses");
}
