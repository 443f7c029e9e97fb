//! Plans that list their calls and their schedule: made from a finding's round and run in a fresh
//! process, they give the same round.

use std::path::{Path, PathBuf};
use std::time::Duration;

use interlap::core::plan::{Plan, Shard};
use interlap::core::scenario;
use interlap::core::time_limit::TimeLimit;
use interlap::finding::Stored;
use interlap::finding::trust::Trusted;
use interlap::fuzz::{Options, Sighting, rerun};
use interlap::report::debugger;
use interlap::report::words::CONFIRMED;

use super::tool::{Tool, data};

/// The options of a rerun of the finding's round.
fn options(directory: &Path, plan: Plan) -> Options {
    Options {
        plan,
        trusted: Trusted::by_user(),
        key: None,
        jobs: 1,
        shard: Shard::ALL,
        sources: Default::default(),
        regressions: Default::default(),
        library: debugger::library(directory).expect("written with the finding"),
        harness: PathBuf::from(env!("CARGO_BIN_EXE_interlap-harness")),
        time: TimeLimit::none(),
        rounds_max: None,
        findings_max: 1,
        known: Default::default(),
        hang_max: Duration::from_secs(10),
        directory: directory.to_path_buf(),
        keep: None,
        stop: Default::default(),
        wanted: None,
        leave_after: None,
        can_be_controlled: false,
    }
}

/// Runs the round alone; it must show the finding.
fn shown(stored: &Stored, plan: &Plan) -> Sighting {
    let seen = rerun(&options(&stored.directory, plan.clone()), stored.finding.round);
    let same = |s: &Sighting| s.finding.signature == stored.finding.signature;
    seen.expect("it runs").into_iter().find(same).expect("the same finding")
}

/// Runs a target until something is found, and reruns the round from its recorded calls and
/// schedule.
fn repeats_from_its_record(tool: &Tool, target: &str) -> Plan {
    let run = tool.fuzz(target).seed(3).rounds(100_000).findings(1);
    let found = run.expect(1, &[CONFIRMED]).stored();
    let mut plan = found.finding.plan.clone();
    plan.control.records = true;
    let recorded = shown(&found, &plan);
    assert_eq!(recorded.round.history, found.round.history, "{target}: recording changes it");
    let steps = recorded.round.end.steps.as_ref().expect("of the controlled engine");
    let schedule = steps.recorded.as_ref().expect("it was asked for");
    plan.control.records = false;
    plan.control.policy = Some(schedule.list.clone());
    plan.scenarios = vec![scenario::from_history(&found.round.history, found.round.start.threads)];
    let json = serde_json::to_string(&plan).expect("a plan");
    let plan: Plan = serde_json::from_str(&json).expect("the same plan");
    let repeated = shown(&found, &plan);
    assert_eq!(repeated.round.history, found.round.history, "{target}: {json}");
    let again = repeated.round.end.steps.expect("of the controlled engine");
    assert_eq!((again.steps, again.schedule), (steps.steps, steps.schedule), "{target}");
    assert_eq!(again.recorded, None);
    let mut by_turns = plan.clone();
    by_turns.control.policy = None;
    by_turns.scenarios[0].schedule = Some(schedule.turns.clone());
    let repeated = shown(&found, &by_turns);
    let again = repeated.round.end.steps.expect("of the controlled engine");
    assert_eq!(
        (again.steps, again.schedule),
        (steps.steps, steps.schedule),
        "{target}\n{}\n{}",
        schedule.turns,
        schedule.list
    );
    plan
}

#[test]
fn a_finding_is_repeated_by_its_calls_and_its_switches() {
    for twin in [
        "treiber_aba",
        "ms_queue_untagged",
        "harris_set_marked_contains",
        "ring_mpmc_early_publish",
        "atomic_register_split_cas",
        "mutex_map_lost_update",
    ] {
        repeats_from_its_record(&Tool::new(), twin);
    }
}

/// A deadlock and a use after free: the engine ends such rounds.
#[test]
fn a_fault_is_repeated_by_its_calls_and_its_switches() {
    for adapter in ["abba", "use_after_free"] {
        let path = data(&format!("controlled/{adapter}.cpp"));
        let plan = repeats_from_its_record(&Tool::new(), path.to_str().expect("UTF-8"));
        assert!(plan.scenarios[0].calls() >= 2);
    }
}

/// A stored plan may have been edited, so it is checked.
#[test]
fn a_scenario_that_the_target_does_not_offer_is_refused() {
    let tool = Tool::new();
    let mut plan = repeats_from_its_record(&tool, "treiber_aba");
    let calls = &mut plan.scenarios[0].threads[0];
    calls[0].op = interlap::core::operation::Op::Enqueue;
    calls[0].args = vec![1];
    let refused = rerun(&options(&tool.only_finding(), plan), 16);
    let refused = refused.err().expect("an error").to_string();
    assert!(refused.contains("a scenario in which thread 0 calls enqueue"), "{refused}");
}
