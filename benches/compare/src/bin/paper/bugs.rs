//! The mistakes of the case studies: how often `interlap fuzz` finds them, and how soon.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::table::{count, median, short, table};
use crate::{Setting, progress};

/// A target with a mistake, and what makes `interlap fuzz` look for it.
struct Bug {
    study: &'static str,
    target: &'static str,
    specification: Option<&'static str>,
    options: &'static [&'static str],
}

impl Bug {
    const fn of_tree(target: &'static str) -> Bug {
        Bug { study: "augmented tree", target, specification: None, options: &[] }
    }
}

const BUGS: &[Bug] = &[
    Bug::of_tree("augmented_tree_mutable_find"),
    Bug::of_tree("augmented_tree_swapped_children"),
    Bug::of_tree("augmented_tree_mixed_view"),
    Bug::of_tree("augmented_tree_early_return"),
    Bug::of_tree("augmented_tree_delegated_on"),
    Bug::of_tree("augmented_tree_rotation_version"),
    Bug::of_tree("augmented_tree_future_contains"),
    Bug {
        study: "ConcurrentQueue",
        target: "moodycamel_small",
        specification: Some("AtomicBulk.tla"),
        options: &["--threads", "3", "--calls", "3", "--bulk", "4"],
    },
];

/// A run that found the mistake.
struct Run {
    rounds: f64,
    seconds: f64,
}

pub fn written(setting: &Setting) -> String {
    let rows: Vec<Vec<String>> = BUGS.iter().map(|bug| row(bug, setting)).collect();
    let head = ["case study", "target", "judged by", "found", "rounds", "seconds"];
    table(&head, 3, &rows)
}

fn row(bug: &Bug, setting: &Setting) -> Vec<String> {
    progress(&format!("bug: {}", bug.target));
    let runs: Vec<Run> = (1..=setting.seeds).filter_map(|seed| fuzz(bug, seed, setting)).collect();
    let columns: [Vec<f64>; 2] =
        [runs.iter().map(|run| run.rounds).collect(), runs.iter().map(|run| run.seconds).collect()];
    let most = |numbers: &[f64]| numbers.iter().copied().fold(0.0, f64::max);
    let cell = |numbers: &[f64], shown: fn(f64) -> String| match numbers.is_empty() {
        true => "-".to_string(),
        false => format!("{} / {}", shown(median(numbers)), shown(most(numbers))),
    };
    let whole = |number: f64| count(number as u64);
    vec![
        bug.study.into(),
        format!("`{}`", bug.target),
        format!("`{}`", bug.specification.unwrap_or("range-set")),
        format!("{} of {}", runs.len(), setting.seeds),
        cell(&columns[0], whole),
        cell(&columns[1], short),
    ]
}

/// What a run of `interlap fuzz` says of its first finding, if there is one.
fn fuzz(bug: &Bug, seed: u64, setting: &Setting) -> Option<Run> {
    let findings = setting.scratch.join("findings");
    let mut command = Command::new(&setting.interlap);
    command.args(["fuzz", bug.target, "--json", "--jobs", "1", "--findings", "1", "--shrink", "0"]);
    command.args(["--seed", &seed.to_string(), "--for", &format!("{}s", setting.fuzz_seconds)]);
    command.args(bug.options).arg("--out").arg(&findings);
    if let Some(name) = bug.specification {
        command.arg("--model").arg(setting.specification(name));
    }
    let output = command.output().expect("interlap runs");
    // One is its exit code for a finding, zero and three for none.
    let found = match output.status.code() {
        Some(1) => true,
        Some(0 | 3) => false,
        _ => panic!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)),
    };
    let said: Value = serde_json::from_slice(&output.stdout).expect("interlap prints JSON");
    let number = |name: &str| said[name].as_f64().unwrap_or_else(|| panic!("no {name}: {said}"));
    assert_eq!(found, number("violations") > 0.0, "{}: not a violation: {said}", bug.target);
    discard(&findings);
    found.then(|| Run { rounds: number("rounds"), seconds: number("seconds") })
}

fn discard(folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).expect("a folder of this program can be removed");
    }
}
