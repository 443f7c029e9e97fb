//! The case study of docs/augmented_tree.md: two trees that are right, and seven mistakes.

use std::path::{Path, PathBuf};

use interlap::report::words::NOTHING_FOUND;

use super::tool::{Answer, Tool};

/// The twins, with where `interlap explain` puts the mistake.
const TWINS: [(&str, &str); 7] = [
    ("mutable_find", "augmented_tree_mutable_find.cpp"),
    ("swapped_children", "augmented_tree_swapped_children.cpp"),
    ("mixed_view", "augmented_tree_mixed_view.cpp"),
    ("early_return", "augmented_tree_early_return.cpp"),
    ("delegated_on", "augmented_tree_delegated_on.cpp"),
    ("rotation_version", "augmented_tree_rotation_version.cpp"),
    ("future_contains", "augmented_tree_future_contains.cpp"),
];

/// Those whose mistakes are the hardest to reach.
const HARD: [&str; 2] = ["delegated_on", "rotation_version"];

fn specification() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/specifications/RangeSet.tla")
}

fn finding(tool: &Tool, twin: &str) -> Answer {
    let target = format!("augmented_tree_{twin}");
    tool.fuzz(&target).seed(1).rounds(60_000).findings(1).expect(1, &["Confirmed"])
}

fn is_found_and_explained(twin: &str, file: &str) {
    let tool = Tool::new();
    let found = finding(&tool, twin);
    tool.explain(found.finding()).expect(1, &[file]);
}

#[test]
fn right_trees_are_not_accused() {
    let tool = Tool::new();
    for target in ["augmented_tree", "augmented_tree_delegating"] {
        tool.fuzz(target).seed(1).rounds(2_000).expect(0, &[NOTHING_FOUND]);
    }
    let run = tool.fuzz("augmented_tree").seed(2).rounds(300).with("--threads 3 --calls 4 --model");
    run.arg(specification()).expect(0, &[NOTHING_FOUND]);
}

#[test]
fn what_is_rare_is_found() {
    for (twin, file) in TWINS.iter().filter(|(twin, _)| HARD.contains(twin)) {
        is_found_and_explained(twin, file);
    }
}

#[test]
#[ignore = "compiles five trees more: make test-long"]
fn all_mistakes_are_found() {
    for (twin, file) in TWINS.iter().filter(|(twin, _)| !HARD.contains(twin)) {
        is_found_and_explained(twin, file);
    }
    let tool = Tool::new();
    let early = || tool.fuzz("augmented_tree_early_return").seed(1).rounds(20_000);
    early().with("--model range-set:consistency=sequential").expect(0, &[NOTHING_FOUND]);
    let future = tool.fuzz("augmented_tree_future_contains").seed(1).rounds(2_000).findings(1);
    let future = future.with("--threads 3 --calls 4 --model").arg(specification());
    future.expect(1, &["not-linearizable"]);
}
