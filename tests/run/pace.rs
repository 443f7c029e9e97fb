//! Scheduling points that pass without a decision: rounds are the same with a decision at each
//! point, as under a debugger.

use std::path::{Path, PathBuf};
use std::process::Command;

use interlap::adapter::cache::Cache;
use interlap::adapter::compile::{Flavour, Request, Toolchain};
use interlap::adapter::sources::Sources;
use interlap::core::plan::{Engine, Job, Plan};
use interlap::trace::rounds::{Round, read};

const ROUNDS: u64 = 240;

/// The adapter, compiled for the controlled engine, of this folder of the repository.
pub fn library(folder: &str, name: &str) -> PathBuf {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let toolchain =
        Toolchain::new(Cache::at(cache).expect("a cache"), Sources::EMBEDDED).expect("a toolchain");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
    let request = Request {
        source: source.with_extension("cpp"),
        flavour: Flavour::Hooked,
        ..Request::default()
    };
    toolchain.compile(&request).unwrap_or_else(|error| panic!("{name}: {error}")).library
}

/// Rounds without a main program; `how` is the harness's flag.
fn rounds(how: &str, library: &Path, plan: &Plan) -> Vec<Round> {
    let folder = tempfile::tempdir().expect("room");
    let job = Job {
        plan: plan.clone(),
        library: library.to_path_buf(),
        round_first: 0,
        round_step: 1,
        round_end: Some(ROUNDS),
        hang_milliseconds: 30_000,
        milliseconds_max: None,
        races_known: Vec::new(),
        weakened: Vec::new(),
        judges: false,
        directory: folder.path().join("files"),
    };
    let (job_file, frames) = (folder.path().join("job"), folder.path().join("frames"));
    std::fs::write(&job_file, serde_json::to_vec(&job).expect("a job")).expect("room");
    let mut harness = Command::new(env!("CARGO_BIN_EXE_interlap-harness"));
    let output = harness.arg(how).arg(&job_file).arg(&frames).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    read(&frames).expect("frames").rounds
}

#[test]
fn a_decision_at_every_scheduling_point_changes_no_round() {
    let waiting = ["spin_pure", "spin_yield", "spin_pthread", "sleep_backoff", "atomic_wait"];
    let others = ["shared_set", "worker_pool", "signals"];
    let own = waiting.iter().chain(&others).map(|name| ("tests/data/controlled", *name));
    let bundled = [("targets", "ring_mpmc"), ("targets", "moodycamel"), ("targets", "chase_lev")];
    for (folder, name) in own.chain(bundled) {
        let library = library(folder, name);
        let plan = Plan { engine: Engine::Controlled, ..Plan::new(name, 5) };
        let (passed, looked_at) =
            (rounds("--alone", &library, &plan), rounds("--debug", &library, &plan));
        assert_eq!(passed.len() as u64, ROUNDS, "{name}");
        for (one, two) in passed.iter().zip(&looked_at) {
            assert_eq!(one, two, "{name}, round {}", one.start.round);
        }
    }
}
