//! Runs of several jobs, and the frames of the controlled engine's harness: counts, detected
//! faults, rounds left in the outbox, and targets that it cannot control.

use std::path::Path;

use interlap::adapter::cache::Cache;
use interlap::adapter::compile::{Request, Toolchain};
use interlap::adapter::sources::Sources;
use interlap::core::operation::{Op, Status};
use interlap::core::plan::{Engine, Shard};
use interlap::finding::{Failure, Stored};
use interlap::fuzz::{Ending, Summary, Uncontrolled, fuzz};
use interlap::process::fault::FaultKind;
use interlap::report::words::{self, CONFIRMED};
use interlap::trace::frame::{Deed, Detected, DetectedKind, Frame, Place, Problem, When, Who};

use super::adapters::enqueue;
use super::fake::{Ear, Fake, records, round, steps};

fn run(fake: &Fake) -> (Summary, Ear) {
    let mut ear = Ear::default();
    let summary = fuzz(&fake.options(), &mut ear).expect("it runs");
    (summary, ear)
}

/// A use after free in round `round` by thread 1 of two, in its second call.
fn use_after_free(round: u64) -> (Frame, Vec<Vec<u8>>) {
    let place = |thread, call, deed| {
        let who = Who { thread, when: When::InCall(call) };
        Place { who, deed, code: Some(0x1234), around: Vec::new() }
    };
    let detected = Frame::Fault(Detected {
        kind: DetectedKind::UseAfterFree,
        round,
        thread: Some(1),
        places: vec![
            place(1, 2, Deed::AccessedFreed { writes: false, address: 0x70_0010, offset: 16 }),
            place(0, 1, Deed::HadFreed { block: 0x70_0000 }),
        ],
        steps: Box::new(steps(round, 9)),
    });
    let pop = |value, start, status| (Op::Pop, value, start, status);
    let left = vec![
        records(&[(Op::Push, Some(5), 1, Some(Status::Ok)), pop(Some(5), 10, Some(Status::Ok))]),
        records(&[pop(None, 3, None)]),
        Vec::new(),
    ];
    (detected, left)
}

/// A job whose round 20 has a use after free, as has that round alone.
fn recurring_fault() -> Fake {
    let fake = Fake::new(Engine::Controlled);
    let (detected, left) = use_after_free(20);
    let frames = [round(18, false, 9), vec![detected.clone()]].concat();
    fake.sends(0, &frames, "sleep 60");
    fake.leaves(0, 20, &left, &[]);
    fake.sends(20, &[detected], "");
    fake.leaves(20, 20, &left, &[]);
    fake
}

#[test]
fn a_detected_fault_is_a_finding_with_its_places_and_is_confirmed() {
    let fake = recurring_fault();
    let (summary, ear) = run(&fake);
    let mut started = fake.started();
    started.sort_unstable();
    assert_eq!(started, [0, 20, 21], "the confirmation, while the job goes on");
    assert_eq!((summary.statistics.rounds, summary.statistics.faults), (1, 1));
    let stored = &summary.findings[0];
    assert_eq!(stored.finding.confirmed, Some(true));
    assert_eq!(stored.finding.signature.to_string(), "use after free calling the structure");
    assert_eq!(stored.round.history.len(), 3, "with the pending call");
    let parts = [words::fault(&stored.finding.what), "pop() -> never returned".to_string()];
    let parts = parts.into_iter().chain(words::places(&stored.finding.what));
    for part in parts.chain([CONFIRMED.to_string()]) {
        assert!(ear.found[0].contains(&part), "no {part:?} in {}", ear.found[0]);
    }
    let loaded = Stored::load(&stored.directory).expect("as it was written");
    assert_eq!(loaded.finding, stored.finding);
    let Failure::Fault { kind, thread, places, .. } = loaded.finding.what else {
        panic!("a fault")
    };
    assert_eq!((kind, thread), (FaultKind::Detected(DetectedKind::UseAfterFree), Some(1)));
    let accessed = Deed::AccessedFreed { writes: false, address: 0x70_0010, offset: 16 };
    let in_call = |thread, call| Who { thread, when: When::InCall(call) };
    let expected =
        [(in_call(1, 2), accessed), (in_call(0, 1), Deed::HadFreed { block: 0x70_0000 })];
    assert_eq!(places.iter().map(|place| (place.who, place.deed)).collect::<Vec<_>>(), expected);
}

#[test]
fn a_finding_that_does_not_recur_is_unconfirmed() {
    let fake = Fake::new(Engine::Controlled);
    let frames = [round(16, false, 9), round(17, true, 9)].concat();
    fake.sends(0, &frames, "cat bye");
    let (summary, ear) = run(&fake);
    assert_eq!(fake.started(), [0, 17]);
    let stored = &summary.findings[0];
    assert_eq!((stored.round.start.round, stored.finding.confirmed), (17, Some(false)));
    assert!(!ear.found[0].contains(CONFIRMED), "{}", ear.found[0]);
    assert_eq!(summary.ending, Ending::Rounds);
}

#[test]
fn rounds_in_the_outbox_are_checked_once_whatever_ended_the_process() {
    // If it was killed, the cause may be elsewhere: its last round is run again.
    for (end, faults) in [("kill -9 $$", 0), ("exit 3", 1), ("kill -SEGV $$", 1)] {
        let fake = Fake::new(Engine::Controlled);
        let piped = [round(16, false, 9), round(17, false, 9)].concat();
        let mut outbox = [round(17, false, 9), round(18, true, 9), round(19, false, 9)].concat();
        outbox.extend(round(20, false, 9).into_iter().take(2));
        // The pipe has the beginning of a round that is in the outbox.
        let begun = round(18, true, 9).into_iter().take(1);
        fake.sends(0, &piped.into_iter().chain(begun).collect::<Vec<_>>(), end);
        fake.leaves(0, 20, &[Vec::new(), Vec::new()], &outbox);
        let (summary, _) = run(&fake);
        assert_eq!((summary.statistics.rounds, summary.statistics.faults), (4, faults), "{end}");
        assert!(fake.started().contains(&(20 + faults)), "{end}: {:?}", fake.started());
        assert_eq!(summary.findings.len() as u64, 1 + faults, "{end}: the round's and the fault");
    }
}

#[test]
fn what_the_engine_counts_is_added_up() {
    let fake = Fake::new(Engine::Controlled);
    let frames: Vec<Frame> = (16..116).flat_map(|number| round(number, false, 9)).collect();
    fake.sends(0, &frames, "cat bye");
    let (summary, _) = run(&fake);
    let coverage = summary.statistics.coverage.expect("rounds of the engine");
    assert_eq!((coverage.rounds, coverage.schedules.total, coverage.pairs.total), (100, 100, 3));
    assert_eq!(coverage.policies["pos"].rounds, 50);
    assert_eq!(summary.pairs, [0, 1, 2]);
    assert!(coverage.leaks());
}

#[test]
fn a_run_of_a_target_that_cannot_be_controlled_ends() {
    let fake = Fake::new(Engine::Controlled);
    let frames: Vec<Frame> = (16..116).flat_map(|number| round(number, false, 0)).collect();
    fake.sends(0, &frames, "sleep 60");
    let error = fuzz(&fake.options(), &mut Ear::default()).err().expect("blind");
    assert!(matches!(error.downcast_ref(), Some(Uncontrolled::Blind)), "{error:#}");
    assert!(error.to_string().contains("Build the library's sources into the adapter"));
    fake.sends(0, &[Frame::Problem(Problem::uncontrolled("no hooks"))], "");
    let error = fuzz(&fake.options(), &mut Ear::default()).err().expect("refused");
    assert!(matches!(error.downcast_ref(), Some(Uncontrolled::Refused(_))), "{error:#}");
}

/// The options of a run of a real harness on a queue.
fn native(fake: &Fake, text: &str) -> interlap::fuzz::Options {
    let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    let toolchain = Toolchain::new(cache.expect("a cache"), Sources::EMBEDDED);
    let source = fake.options().directory.with_file_name("queue.cpp");
    std::fs::write(&source, text).expect("room");
    let request = Request { source: source.clone(), ..Request::default() };
    let compiled = toolchain.expect("a compiler").compile(&request).expect("it compiles");
    let mut options = fake.options();
    options.plan.build.adapter = source.display().to_string();
    options.plan.calls = Some(20);
    options.library = compiled.library;
    options.harness = env!("CARGO_BIN_EXE_interlap-harness").into();
    options
}

#[test]
fn jobs_and_shards_do_each_round_once() {
    let fake = Fake::new(Engine::Native);
    let mut options = native(&fake, super::adapters::QUEUE);
    (options.jobs, options.rounds_max) = (3, Some(101));
    let summary = fuzz(&options, &mut Ear::default()).expect("it runs");
    assert_eq!(summary.statistics.rounds + summary.statistics.warm_up, 101);
    options.shard = Shard { index: 1, count: 4 };
    let summary = fuzz(&options, &mut Ear::default()).expect("it runs");
    assert_eq!(summary.statistics.rounds + summary.statistics.warm_up, 25, "1, 5, ..., 97");
}

#[test]
fn a_crash_costs_one_round_of_one_job() {
    let fake = Fake::new(Engine::Native);
    // In every round with enough additions, which are few.
    let mut options = native(&fake, &enqueue("if (added == 45) abort();"));
    (options.jobs, options.rounds_max) = (2, Some(60));
    let summary = fuzz(&options, &mut Ear::default()).expect("it runs");
    let statistics = &summary.statistics;
    assert!(statistics.faults > 0, "{statistics:?}");
    let rounds = statistics.warm_up + statistics.rounds + statistics.faults;
    assert_eq!(rounds, 60, "{statistics:?}");
    assert_eq!(summary.findings.len(), 1);
}

/// The wording of reports.
mod snapshots {
    use super::*;

    #[test]
    fn an_unconfirmed_finding_has_a_warning() {
        let fake = Fake::new(Engine::Controlled);
        fake.sends(0, &[round(16, false, 9), round(17, true, 9)].concat(), "cat bye");
        let (_, ear) = run(&fake);
        assert!(ear.found[0].contains("NOT REPRODUCED: round 17"), "{}", ear.found[0]);
    }

    #[test]
    fn a_fault_is_told_with_its_places() {
        let (_, ear) = run(&recurring_fault());
        for part in [
            "Thread 1 accessed memory that had been freed.",
            "  - thread 1 in its call 2 read from freed memory at 0x700010, byte 16 of a block",
            "  - thread 0 in its call 1 had freed the block",
        ] {
            assert!(ear.found[0].contains(part), "no {part:?} in {}", ear.found[0]);
        }
    }
}
