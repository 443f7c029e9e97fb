//! Findings of others: nothing that they name is compiled, loaded or run before `--trust`, and a
//! finding that was made here is known by its mark, as long as nobody changed it.

use std::path::{Path, PathBuf};

use interlap::finding::Stored;
use serde_json::{Value, json};

use super::tool::{Answer, Call, Tool, findings, read};

/// A register whose compare_exchange is a load and a store. Loading it creates the file `ran`.
fn register(ran: &Path) -> String {
    format!(
        r#"#include <atomic>
#include <fcntl.h>
#include <interlap.hpp>
static const int loaded = creat("{}", 0600);
struct Register {{
    static constexpr auto model = "register";
    std::atomic<int64_t> word{{0}};
    int64_t read() {{ return word.load(); }}
    void write(int64_t value) {{ word.store(value); }}
    bool compare_exchange(int64_t old, int64_t value) {{
        if (word.load() != old) return false;
        word.store(value);
        return true;
    }}
}};
INTERLAP_TARGET(Register)
"#,
        ran.display()
    )
}

/// A finding, and the file that shows whether its adapter was loaded.
struct Found {
    tool: Tool,
    finding: PathBuf,
    ran: PathBuf,
}

/// Runs a command on a finding, whose answer says whether the adapter was loaded.
impl Found {
    fn with(options: &str) -> Found {
        let tool = Tool::new();
        let ran = tool.path("ran");
        let run = tool.fuzz_text("register.cpp", &register(&ran)).controlled().rounds(3000);
        let answer =
            run.findings(1).jobs(1).with("--weight compare_exchange=9").with(options).run();
        let finding = answer.expect(1, &[]).findings[0].clone();
        std::fs::remove_file(&ran).expect("it was loaded");
        Found { tool, finding, ran }
    }

    fn mark(&self) -> PathBuf {
        self.finding.join("mark.txt")
    }

    fn is_ours(&self) -> bool {
        Stored::load(&self.finding).expect("a finding");
        self.mark().is_file()
    }

    /// Changes `finding.json`.
    fn edit(&self, change: impl FnOnce(&mut Value)) {
        let path = self.finding.join("finding.json");
        let mut finding = serde_json::from_str(&read(&path)).expect("JSON");
        change(&mut finding);
        std::fs::write(path, finding.to_string()).expect("room");
    }

    fn call(&self, command: &str) -> Call<'_> {
        self.tool.call(command).arg(&self.finding)
    }

    /// Asserts that the call loads nothing.
    #[track_caller]
    fn runs_nothing(&self, call: Call) -> Answer {
        let answer = call.run();
        assert!(!self.ran.exists(), "{}", answer.all());
        answer
    }

    /// Asserts that the commands that run a finding refuse it, and say this.
    #[track_caller]
    fn is_refused(&self, words: &[&str]) {
        for command in ["replay", "replay --gdb", "shrink --for 1s", "export --no-try", "explain"] {
            self.runs_nothing(self.call(command)).expect(2, words).expect(2, &["--trust"]);
        }
    }
}

#[test]
fn what_was_made_here_is_run_again() {
    let found = Found::with("");
    found.call("replay").expect(1, &["identical"]);
    found.call("explain").expect(1, &["compare_exchange"]);
    assert!(found.ran.exists() && found.is_ours());
    // Whether it gets smaller in time does not matter here.
    assert_ne!(found.call("shrink --for 2s").run().status, 2);
    found.call("replay").expect(1, &["identical"]);
    // A run of its own, joined with it, stays one of its own, and so does a copy.
    found.tool.call("merge findings").out("both").expect(1, &[]);
    let [merged] = &findings(&found.tool.path("both"))[..] else { panic!("one finding") };
    found.tool.replay(merged).expect(1, &["identical"]);
}

#[test]
fn what_others_made_runs_nothing_unless_it_is_trusted() {
    let found = Found::with("");
    std::fs::remove_file(found.mark()).expect("ours");
    let adapter = found.tool.path("register.cpp").display().to_string();
    found.is_refused(&["was not made here", &adapter]);
    let trace = found.finding.join("trace.mpk");
    let tool = &found.tool;
    for call in [
        found.call("show"),
        found.call("show --html page.html"),
        found.call("replay --history-only"),
        tool.call("triage findings --junit j.xml --sarif s.json"),
        tool.call("show findings --html run.html"),
        tool.call("merge findings").out("both"),
        tool.check(&trace),
        tool.call("convert --to jsonl").arg(&trace),
    ] {
        let answer = found.runs_nothing(call);
        assert_ne!(answer.status, 2, "{}", answer.all());
    }
    let [merged] = &findings(&tool.path("both"))[..] else { panic!("one finding") };
    let answer = found.runs_nothing(tool.replay(merged));
    answer.expect(2, &["was not made here"]);
    found.call("explain --trust").expect(1, &["compare_exchange"]);
    assert!(found.ran.exists());
    std::fs::remove_file(&found.ran).expect("it was loaded");
    // The table that it has now takes no run. Nobody but its maker marks it.
    found.runs_nothing(found.call("explain")).expect(3, &["compare_exchange", "--trust"]);
    found.runs_nothing(found.call("replay")).expect(2, &["was not made here"]);
    found.call("replay --trust").expect(1, &["identical"]);
}

#[test]
fn a_finding_that_somebody_changed_is_not_ours() {
    let found = Found::with("");
    found.edit(|finding| finding["plan"]["build"]["flags"] = json!(["-DX"]));
    found.is_refused(&["was not made here", "-DX"]);
}

#[test]
fn flags_that_can_run_code_are_refused_by_name_even_in_what_was_made_here() {
    let found = Found::with("--cflag -frandom-seed=7 --cflag -DX");
    found.is_refused(&["-frandom-seed=7, which is none"]);
    found.call("replay --trust").expect(1, &["identical"]);
    std::fs::remove_file(&found.ran).expect("it was loaded");
    let evil = "-fplugin=/tmp/evil.so";
    found.edit(|finding| finding["plan"]["build"]["flags"] = json!(["-O2", evil]));
    found.is_refused(&[evil]);
}

#[test]
fn a_library_that_a_finding_names_stays_out_of_scripts() {
    let found = Found::with("");
    let job = found.finding.join("debug.json");
    let known: Value = serde_json::from_str(&read(&job)).expect("JSON");
    found.tool.call("merge findings").out("one").expect(1, &[]);
    let merged = |out: &str| findings(&found.tool.path(out))[0].join("debug.json");
    let library = |path: PathBuf| -> Value {
        serde_json::from_str::<Value>(&read(path)).expect("JSON")["library"].clone()
    };
    assert_eq!(library(merged("one")), known["library"]);
    for evil in ["/tmp/evil.so", "evil.so"] {
        let mut changed = known.clone();
        changed["library"] = json!(evil);
        std::fs::write(&job, changed.to_string()).expect("room");
        found.tool.call("merge findings").out("two").expect(1, &[]);
        assert!(!merged("two").exists());
    }
}

#[test]
fn without_a_key_findings_have_no_mark_and_the_run_says_so() {
    let tool = Tool::new();
    let text = register(&tool.path("ran"));
    let run = tool.fuzz_text("register.cpp", &text).controlled().rounds(3000).findings(1).jobs(1);
    let mut run = run.with("--weight compare_exchange=9").command();
    // A file is no folder.
    let run = run.env("XDG_DATA_HOME", tool.path("register.cpp"));
    let answer = Answer::from_output(run.output().expect("the program starts"));
    answer.expect(1, &["get no mark"]);
    assert!(!tool.only_finding().join("mark.txt").exists());
    tool.replay(tool.only_finding()).expect(2, &["was not made here"]);
    tool.replay(tool.only_finding()).with("--trust").expect(1, &["identical"]);
}

#[test]
fn operations_that_a_round_does_not_have_are_refused() {
    let found = Found::with("");
    // Readers also take an object for a list, and overlook a field that they do not know.
    for id in [
        json!({"thread": 0, "index": 1_000_000}),
        json!([0, 1_000_000]),
        json!({"thread": 0, "index": 1_000_000, "more": 0}),
    ] {
        found.edit(|finding| finding["what"]["violation"]["operations"][0] = id);
        for command in ["show", "replay --history-only"] {
            found.runs_nothing(found.call(command)).expect(2, &["copy the whole directory again"]);
        }
    }
}
