//! A finding as a regression test: replayed after the fix, in a project that moved, and before a
//! run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::tool::{Call, Tool, findings};

/// A counter of a project: its header in `include`, its adapter in `tests`.
const HEADER: &str = "#pragma once
#include <atomic>
#include <cstdint>
struct Cell {
    std::atomic<int64_t> value{0};
    int64_t add(int64_t n) {
        int64_t before = value.load();
        value.store(before + n);
        return before;
    }
};
";
const ADAPTER: &str = "#include <interlap.hpp>
#include \"lib/cell.hpp\"
struct Counter {
    static constexpr auto model = \"counter\";
    Cell cell;
    int64_t add(int64_t amount) { return cell.add(amount); }
    int64_t read() { return cell.value.load(); }
};
INTERLAP_TARGET(Counter)
";
const FIXED: &str = "return value.fetch_add(n);";
/// The bug is still there, but its steps are others.
const SHIFTED: &str = "value.load(); value.load(); int64_t before = value.load();
    value.store(before + n); return before;";
const CRASHES: &str = "int64_t before = value.load(); value.store(before + n);
    if (before) __builtin_trap(); return before;";

struct Project {
    tool: Tool,
    /// The folder of the adapter.
    tests: PathBuf,
}

impl Project {
    /// A project whose bug was found, as README says how.
    fn found() -> Project {
        let tool = Tool::new();
        for folder in ["project/include/lib", "project/tests"] {
            fs::create_dir_all(tool.path(folder)).expect("room");
        }
        tool.write("project/include/lib/cell.hpp", HEADER);
        tool.write("project/tests/cell.cpp", ADAPTER);
        let tests = tool.path("project/tests");
        let project = Project { tool, tests };
        project.fuzz("--findings 1 --threads 2 --calls 4").expect(1, &["Confirmed"]);
        project
    }

    /// Runs in the folder of the adapter.
    fn fuzz(&self, options: &str) -> Call<'_> {
        let call = self.tool.call("fuzz cell.cpp -I ../include --seed 1 --rounds 200");
        call.with("--engine controlled --jobs 1").with(options).inside(&self.tests)
    }

    fn finding(&self) -> PathBuf {
        let found = findings(&self.tests.join("findings"));
        found.into_iter().next().expect("a finding")
    }

    /// Replaces the body of `add`.
    fn change(&self, body: &str) {
        let (start, rest) = HEADER.split_once("        int64_t before").expect("its body");
        let (_, end) = rest.split_once("return before;\n").expect("its end");
        let text = format!("{start}{body}\n{end}");
        self.tool.write("project/include/lib/cell.hpp", &text);
    }
}

#[test]
fn a_replay_tells_a_fix_from_another_failure() {
    let project = Project::found();
    let replay = || project.tool.replay(project.finding());
    replay().expect(1, &["the history is identical"]);
    project.change(FIXED);
    let words = ["operations ran, the answers are explained", "500 further schedules"];
    replay().expect(0, &words);
    let json = replay().json(0);
    assert_eq!((&json["recurred"], &json["operations"]), (&false.into(), &json["planned"]));
    project.change(SHIFTED);
    replay().expect(1, &["the code takes other steps", "showed it again"]);
    project.change(CRASHES);
    replay().expect(1, &["not this finding, but another one: SIGILL"]);
}

#[test]
fn a_finding_moves_with_its_project() {
    let Project { tool, tests } = Project::found();
    let name = findings(&tests.join("findings"))[0].file_name().expect("a name").to_owned();
    let replay =
        |folder: &str, more: &str| tool.replay(tool.path(folder).join(&name)).with(more).run();
    fs::rename(tool.path("project"), tool.path("moved")).expect("room");
    replay("moved/tests/findings", "").expect(1, &["identical"]).lacks("changed since");
    // What lies where it was moved to may be of others.
    tool.write("moved/tests/cell.cpp", &format!("{ADAPTER} "));
    let other = "moved/tests/cell.cpp is not what it was compiled from";
    replay("moved/tests/findings", "").expect(2, &[other, "--adapter", "--trust"]);
    let changed = format!("was found: {}", tool.path("moved/tests/cell.cpp").display());
    replay("moved/tests/findings", "--trust").expect(1, &[&changed, "identical"]);
    // Only the finding is moved.
    fs::rename(tool.path("moved/tests/findings"), tool.path("found")).expect("room");
    let lost = "project/tests/cell.cpp, the adapter of cell-";
    replay("found", "").expect(2, &[lost, "--adapter PATH"]);
    replay("found", "--adapter moved/tests/cell.cpp").expect(1, &["identical"]);
    fs::rename(tool.path("moved/include"), tool.path("headers")).expect("room");
    let lost = "tests/../include, with which it was compiled; say where it is now with -I DIR";
    replay("found", "--adapter moved/tests/cell.cpp").expect(2, &[lost]);
    let named = "--adapter moved/tests/cell.cpp -I headers";
    replay("found", named).expect(1, &["identical"]);
    let explained = tool.explain(tool.path("found").join(&name)).with(named);
    explained.expect(1, &["value.store(before + n)"]);
    // Now it is stored where it is.
    replay("found", "").expect(1, &["identical"]);
}

#[test]
fn known_findings_are_replayed_before_a_run() {
    let project = Project::found();
    let known = project.tests.join("regressions");
    fs::rename(project.tests.join("findings"), &known).expect("room");
    let of = findings(&known)[0].display().to_string();
    // One of another adapter beside it.
    let other = fs::read_to_string(format!("{of}/finding.json")).expect("a finding");
    let copied = Command::new("cp").args(["-r", &of]).arg(known.join("other-1")).status();
    assert!(copied.expect("cp").success());
    let other = other.replace("tests/cell.cpp", "tests/other.cpp");
    fs::write(known.join("other-1/finding.json"), other).expect("room");
    let again = project.fuzz("--findings 1 --junit junit.xml --sarif findings.sarif --json");
    let json = again.run().expect(1, &[]).json();
    let expected = json!({
        "known": 1, "again": 1, "other_failures": 0, "undecided": 0, "others": 1
    });
    assert_eq!(json["regressions"], expected);
    assert_eq!(json["findings"][0]["regression"], of);
    assert_eq!(json["findings"][0]["confirmed"], true);
    for (file, words) in [("junit.xml", "known finding "), ("findings.sarif", "\"regression\": ")] {
        let text = fs::read_to_string(project.tests.join(file)).expect("a report");
        assert!(text.contains(words) && text.contains(&of), "{text}");
    }
    project.change(FIXED);
    let clean = project.fuzz("--junit junit.xml");
    clean.expect(0, &["1 known finding: none shows again (1 of other targets left out)."]);
    let junit = fs::read_to_string(project.tests.join("junit.xml")).expect("a report");
    assert!(junit.contains("tests=\"2\"") && junit.contains("failures=\"0\""), "{junit}");
    project.fuzz("--regress nowhere").expect(2, &["nowhere, where known findings are sought"]);
}
