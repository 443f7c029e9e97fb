//! Mutants of findings, traces, runs and files of known issues, and all that commands make of them
//! without running anything.

use std::fs;
use std::io::sink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::Result;
use clap::Parser;
use interlap::campaign::ledger::Ledger;
use interlap::campaign::triage;
use interlap::check::check;
use interlap::cli::arguments::Cli;
use interlap::cli::commands::carry_out;
use interlap::core::measured::Measured;
use interlap::core::outcome::Outcome;
use interlap::core::plan::{Engine, Plan};
use interlap::finding::cross_engine::{Attempt, CrossEngine, RecordedAs, Smaller};
use interlap::finding::known::KnownIssues;
use interlap::finding::{Failure, Recorded, Shrunk, Size, Stored};
use interlap::model::Spec;
use interlap::process::rr::locate::{CallMoments, Moment};
use interlap::report::output::Output;
use interlap::report::{debugger, interleaving};

use super::explanations::EXPLANATIONS;
use super::format::Sample;
use super::histories::LIMITS;
use super::{how_many, survive};
use crate::run::tool::{Tool, findings, read};

/// A register with two bugs: others use what is freed, and an exchange may lose a write.
const REGISTER: &str = r#"#include <atomic>
#include <interlap.hpp>
struct Register {
    std::atomic<int64_t *> value{new int64_t(0)};
    ~Register() { delete value.load(); }
    int64_t read() { return *value.load(); }
    void write(int64_t number) { delete value.exchange(new int64_t(number)); }
    bool compare_exchange(int64_t old, int64_t number) {
        if (read() != old) return false;
        value.store(new int64_t(number));
        return true;
    }
};
INTERLAP_TARGET(Register)
"#;

/// A run that found a violation and a fault.
struct Found {
    tool: Tool,
    violation: PathBuf,
    fault: PathBuf,
}

impl Found {
    /// A copy of the run that is made for all tests here.
    fn new() -> Found {
        static MADE: LazyLock<Tool> = LazyLock::new(|| {
            let tool = Tool::new();
            let run = tool.fuzz_text("register.cpp", REGISTER).controlled().jobs(1);
            let run = run.with("--races=off");
            run.rounds(5000).findings(6).expect(1, &[]);
            findings(&tool.path("findings")).iter().for_each(|finding| {
                tool.explain(finding).expect(1, &[]);
            });
            tool
        });
        let tool = Tool::new();
        let mut copy = Command::new("cp");
        let copied = copy.arg("-r").arg(MADE.path("findings")).arg(tool.dir.path()).status();
        assert!(copied.expect("cp").success());
        let load = |finding: &PathBuf| Stored::load(finding).expect("a finding").finding;
        let is_violation = |at: &PathBuf| matches!(load(at).what, Failure::Violation { .. });
        let (violations, faults): (Vec<_>, Vec<_>) =
            tool.findings().into_iter().partition(is_violation);
        let keep = |mut some: Vec<PathBuf>| {
            some.sort();
            some.drain(1..).for_each(|other| fs::remove_dir_all(other).expect("ours"));
            some.remove(0)
        };
        Found { violation: keep(violations), fault: keep(faults), tool }
    }

    /// Removes the other finding from the run.
    fn without(self, finding: fn(&Found) -> &Path) -> Found {
        fs::remove_dir_all(finding(&self)).expect("ours");
        let name = |finding: &PathBuf| finding.file_name().expect("a name").display().to_string();
        let findings = self.tool.findings().iter().map(name).collect();
        let run = Ledger { findings, ..self.tool.ledger() };
        run.save(&self.tool.path("findings")).expect("room");
        self
    }

    /// Runs a command, whose words with `./` are files of this folder.
    fn command(&self, line: &str) -> Result<Outcome> {
        let words = line.split(' ').map(|word| match word.strip_prefix("./") {
            Some(file) => self.tool.path(file).display().to_string(),
            None => word.to_string(),
        });
        let command = Cli::parse_from(std::iter::once("interlap".to_string()).chain(words));
        carry_out(&command.command, &mut Output::to(Box::new(sink())))
    }

    /// What commands make of a finding, if it can be read.
    fn follow(&self, finding: &Path) -> Result<()> {
        let stored = Stored::load(finding)?;
        if let Some(table) = &stored.interleaving {
            interleaving::draw(table, stored.round.history.drain, true, usize::MAX);
        }
        if let Ok(model) = stored.finding.model.parse::<Spec>() {
            check(&stored.round.history, &model, &LIMITS);
        }
        debugger::write(&stored, Path::new("/l.so"), Path::new("/h")).expect("room");
        debugger::write_recorded(&stored).expect("room");
        let entry = triage::entry("bug", None, &stored);
        let known = KnownIssues::parse(Path::new("k"), &entry).expect("an entry can be read");
        known.classify(&stored);
        self.tool.write("known.toml", &entry);
        let name = finding.file_name().expect("a name").display();
        self.command(&format!("show --history ./findings/{name}"))?;
        self.command("merge ./findings --out ./merged")?;
        let reports = "--known ./known.toml --junit ./junit.xml --sarif ./run.sarif";
        self.command(&format!("triage ./findings {reports}"))?;
        Ok(())
    }
}

/// What only findings have that were recorded by rr and shrunk.
fn with_all(finding: &Path) -> String {
    let mut finding = Stored::load(finding).expect("a finding").finding;
    let size = Size { calls: 3, threads: 2, preemptions: Some(1) };
    let measured = Some(Measured { rounds: 1000, shown: 3, seconds: 2.0 });
    let signature = finding.signature.clone();
    let (plan, round) = (finding.plan.clone(), finding.round);
    let name = finding.name.clone();
    let moment = Some(Moment { event: 1700, tick: 12, tid: 7 });
    finding.shrunk = Some(Box::new(Shrunk {
        before: size,
        size,
        measured,
        signature: signature.clone(),
        plan,
        round,
    }));
    let places = vec![CallMoments { begin: moment, end: None }];
    finding.recorded =
        Some(Recorded { ticks: 100, places, last: moment, before_end: Some(9), trouble: None });
    let engine = Engine::Native;
    let tried = vec![Attempt { engine, rounds: 9, seconds: 0.5, trouble: None }];
    finding.recorded_as = Some(RecordedAs { name: name.clone(), signature: signature.clone() });
    let smaller = Some(Smaller { engine, name, signature, size, measured });
    finding.cross_engine = Some(CrossEngine { tried, smaller });
    finding.plan = Plan { engine: Engine::Rr, ..finding.plan };
    serde_json::to_string(&finding).expect("text")
}

#[test]
fn violations() {
    let found = Found::new().without(|found| &found.fault);
    let path = found.violation.join("finding.json");
    let mut texts = vec![read(&path), with_all(&found.violation)];
    let id = r#"{"thread": 0, "index": 0}"#;
    for explanation in EXPLANATIONS {
        let mut finding: serde_json::Value = serde_json::from_str(&texts[0]).expect("JSON");
        let explanation = serde_json::from_str(&explanation.replace("ID", id)).expect(explanation);
        finding["what"]["violation"]["explanation"] = explanation;
        texts.push(finding.to_string());
    }
    let samples: Vec<Sample> = texts.iter().map(|text| Sample::json(text)).collect();
    survive("finding.json of violations", &samples, how_many(3_000), |bytes| {
        fs::write(&path, bytes).expect("room");
        found.follow(&found.violation)
    });
}

#[test]
fn faults() {
    let found = Found::new().without(|found| &found.violation);
    let path = found.fault.join("finding.json");
    // The name of a file may have any character but a slash.
    let odd = read(&path).replace("register.cpp", "a\\nb");
    let samples = [read(&path), odd, with_all(&found.fault)].map(|text| Sample::json(&text));
    survive("finding.json of faults", &samples, how_many(1_500), |bytes| {
        fs::write(&path, bytes).expect("room");
        found.follow(&found.fault)
    });
}

/// Mutants of another file of the violation.
fn survive_beside(file: &str, all: usize, sample: fn(&[u8]) -> Sample) {
    let found = Found::new().without(|found| &found.fault);
    let path = found.violation.join(file);
    let sample = sample(&fs::read(&path).expect("a file"));
    survive(file, &[sample], how_many(all), |bytes| {
        fs::write(&path, bytes).expect("room");
        found.follow(&found.violation)
    });
}

/// Also of `original.mpk`, which is the same.
#[test]
fn traces() {
    survive_beside("trace.mpk", 4_000, Sample::trace);
}

#[test]
fn tables() {
    survive_beside("interleaving.json", 500, |bytes| {
        Sample::json(std::str::from_utf8(bytes).expect("UTF-8"))
    });
}

#[test]
fn runs() {
    let found = Found::new();
    let folder = found.tool.path("findings");
    let path = folder.join("run.json");
    survive("run.json", &[Sample::json(&read(&path))], how_many(2_000), |bytes| {
        fs::write(&path, bytes).expect("room");
        let mut run = Ledger::load(&folder)?;
        let _ = run.join(run.clone());
        for line in [
            "show ./findings",
            "show ./findings --html ./run.html",
            "merge ./findings --out ./merged --html ./run.html",
            "triage ./findings --junit ./junit.xml",
        ] {
            // It may name findings that are not there.
            let _ = found.command(line);
        }
        Ok(())
    });
}

#[test]
fn known_issues() {
    let found = Found::new();
    let stored = Stored::load(&found.violation).expect("a finding");
    let entry = r#"
[[known]]
name = "ABA in pop"
issue = "https://example.org/issues/7"
note = "fixed in 2.4"
target = "regi*"
rule = "taken-twice"
operations = ["push", "pop"]
line = ["stack.hpp:30-42", "*"]
function = ["*::pop", "Register::*"]
signature = "*"
model = "*"
"#;
    survive("known issues", &[Sample::toml(entry)], how_many(1_000), |bytes| {
        let known = KnownIssues::parse(Path::new("k"), std::str::from_utf8(bytes)?)?;
        known.classify(&stored);
        known.fitting(&stored);
        Ok(())
    });
}
