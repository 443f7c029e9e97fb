//! Rounds that the harness judges itself are judged and counted as those that the main program
//! judges, which are all of them where a trace is kept.

use std::fs::File;
use std::process::Command;

use interlap::core::plan::{Engine, Job, Plan, WARM_UP_ROUNDS};
use interlap::fuzz::{Warning, fuzz};
use interlap::report::warnings::warning;
use interlap::trace::frame::{Frame, FrameReader};
use interlap::trace::judged::{Judgement, SAMPLED_FIRST, is_sampled};
use serde_json::{Value, json};

use super::fake::{Ear, Fake, round};
use super::pace::library;
use super::tool::Tool;

/// Structures of each family, correct and broken.
const TARGETS: [&str; 18] = [
    "ms_queue",
    "moodycamel",
    "treiber_stack",
    "chase_lev",
    "tbb_priority_queue",
    "harris_set",
    "mutex_map",
    "atomic_register",
    "atomic_counter",
    "slot_log",
    "locked_kv",
    "locked_range_set",
    "versioned_store",
    "treiber_aba",
    "ms_queue_no_recheck",
    "set_undecided_insert",
    "range_set_torn_count",
    "versioned_store_lost_update",
];

/// What a run found and counted, without times, and without what depends on which rounds were
/// counted together.
fn counted(mut run: Value) -> Value {
    for finding in run["findings"].as_array_mut().expect("a list") {
        *finding = json!(["round", "signature", "sightings"].map(|fact| finding[fact].take()));
    }
    let mut coverage = run["coverage"].take();
    let policies = coverage["policies"].as_object_mut().expect("policies");
    policies.values_mut().for_each(|policy| policy["schedules"] = Value::Null);
    let facts = ["rounds", "warm_up", "operations", "overlapping", "exercise", "findings"];
    let counts = ["sightings", "violations", "faults", "processes", "undecided", "never"];
    let facts = facts.iter().chain(&counts).map(|fact| run[*fact].take());
    json!([coverage, facts.collect::<Vec<_>>()])
}

#[test]
fn a_round_is_judged_and_counted_the_same_wherever_that_is_done() {
    let tool = Tool::new();
    for target in TARGETS {
        let run = || {
            let run = tool.fuzz(target).controlled().seed(5).jobs(1).within("1h");
            run.rounds(SAMPLED_FIRST + 600).findings(1000).with("--json")
        };
        let inside = run().out("inside").run().json();
        let outside = run().out("outside").with("--trace trace").run().json();
        assert!(inside["rounds"].as_u64() > Some(SAMPLED_FIRST) || inside["outcome"] == "found");
        let (inside, outside) = (counted(inside), counted(outside));
        assert!(inside == outside, "{target}: {inside:#}\n{outside:#}");
        for folder in ["inside", "outside"] {
            std::fs::remove_dir_all(tool.path(folder)).expect("the run's");
        }
    }
}

/// Of the sample all is sent, with what the harness made of it; of all others what is counted.
#[test]
fn the_calls_of_a_consistent_round_leave_the_harness_only_in_the_sample() {
    let folder = tempfile::tempdir().expect("room");
    let job = Job {
        plan: Plan { engine: Engine::Controlled, ..Plan::new("ms_queue", 5) },
        library: library("targets", "ms_queue"),
        round_first: 0,
        round_step: 1,
        round_end: Some(SAMPLED_FIRST + 200),
        hang_milliseconds: 30_000,
        milliseconds_max: None,
        races_known: Vec::new(),
        weakened: Vec::new(),
        judges: true,
        directory: folder.path().join("files"),
    };
    let (job_file, frames) = (folder.path().join("job"), folder.path().join("frames"));
    std::fs::write(&job_file, serde_json::to_vec(&job).expect("a job")).expect("room");
    let mut harness = Command::new(env!("CARGO_BIN_EXE_interlap-harness"));
    let status = harness.arg("--alone").arg(&job_file).arg(&frames).status().expect("it starts");
    assert!(status.success());
    let mut frames = FrameReader::new(File::open(&frames).expect("frames"));
    let (mut whole, mut counted) = (0, 0);
    while let Some(frame) = frames.next_frame().expect("sound") {
        match frame {
            Frame::End(end) => {
                assert!(is_sampled(end.round));
                let judgement = (end.round >= WARM_UP_ROUNDS).then_some(Judgement::Consistent);
                assert_eq!(end.judgement, judgement, "round {}", end.round);
                whole += 1;
            }
            Frame::Judged(judged) => {
                assert!(!is_sampled(judged.round));
                counted += 1;
            }
            _ => {}
        }
    }
    assert_eq!(whole + counted, SAMPLED_FIRST + 200);
    assert!(counted > 150, "{counted}");
}

/// A round that the harness judged.
fn judged(number: u64, is_wrong: bool, judgement: Judgement) -> Vec<Frame> {
    let mut frames = round(number, is_wrong, 9);
    let Some(Frame::End(end)) = frames.last_mut() else { panic!("a round ends") };
    end.judgement = Some(judgement);
    frames
}

/// The harnesses that were started, the warnings, and how many findings there are where round 18 is
/// wrong, or not, and the harness has judged it so.
fn run(is_wrong: bool, judgement: Judgement) -> (Vec<u64>, Vec<String>, usize) {
    let fake = Fake::new(Engine::Controlled);
    let good = |number| judged(number, false, Judgement::Consistent);
    let frames = [good(16), good(17), judged(18, is_wrong, judgement), good(19)].concat();
    fake.sends(0, &frames, "cat bye");
    fake.sends(19, &[good(19), good(20)].concat(), "cat bye");
    let mut ear = Ear::default();
    let summary = fuzz(&fake.options(), &mut ear).expect("it runs");
    let rounds = summary.statistics.rounds;
    assert_eq!(rounds, if ear.warnings.is_empty() { 4 } else { 5 });
    let mut started = fake.started();
    started.retain(|first| *first != 18);
    (started, ear.warnings, ear.found.len())
}

#[test]
fn a_process_that_judges_otherwise_is_not_trusted_any_longer() {
    let distrust = vec![warning(&Warning::Misjudged { round: 18 })];
    use Judgement::{Consistent, Violation};
    assert_eq!(run(false, Consistent), (vec![0], vec![], 0));
    assert_eq!(run(true, Violation), (vec![0], vec![], 1));
    assert_eq!(run(false, Violation), (vec![0, 19], distrust.clone(), 0));
    assert_eq!(run(true, Consistent), (vec![0, 19], distrust, 1), "found nevertheless");
}
