//! The overview of a run: what it exercised and what it never did, as text, as JSON and as a page,
//! of one run and of several joined.

use std::io::{BufRead, BufReader};

use serde_json::Value;

use super::adapters::QUEUE;
use super::tool::{Answer, Call, Tool};

/// A set with a lock.
const SET: &str = r#"// A set behind a lock.
#include <interlap.hpp>
#include <mutex>
#include <set>
struct Set {
    std::mutex lock;
    std::set<int64_t> keys;
    bool insert(int64_t key) {
        std::lock_guard guard(lock);
        return keys.insert(key).second;
    }
    bool remove(int64_t key) {
        std::lock_guard guard(lock);
        return keys.erase(key) > 0;
    }
    bool contains(int64_t key) {
        std::lock_guard guard(lock);
        return keys.count(key) > 0;
    }
};
INTERLAP_TARGET(Set)
"#;

/// Rounds with one call at a time, which count as no exercise.
const SEQUENTIAL_ROUNDS: u64 = 16;

fn set(tool: &Tool) -> Call<'_> {
    tool.fuzz_text("set.cpp", SET).controlled()
}

fn exercise(tool: &Tool, out: &str) -> Value {
    let ledger = tool.read(&format!("{out}/run.json"));
    let ledger: Value = serde_json::from_str(&ledger).expect("JSON");
    ledger["statistics"]["exercise"].clone()
}

#[test]
fn a_run_reports_what_it_never_did_as_text_json_and_a_page() {
    let tool = Tool::new();
    let run = set(&tool).rounds(400).with("--keys 1 --weight contains=0");
    run.clone().with("--html run.html").expect(
        0,
        &[
            "exercised: 2 operations with 4 kinds of answers, 10 of 10 pairs of them at once",
            "never exercised (and what may bring it about):",
            "contains was never called (--weight leaves it out)",
            "--weight contains=8\n",
            "run.html: the page of this run",
        ],
    );
    let page = tool.read("run.html");
    for part in [
        "<title>A run of set · interlap</title>",
        "<h2 id=\"heading\" tabindex=\"-1\">Nothing found</h2>",
        "<th scope=\"row\">contains was never called (--weight leaves it out)</th>",
        "<td><code>--weight contains=8</code></td>",
        "<td class=\"never\">✕ never</td>",
        "<th scope=\"row\">insert → false</th>",
        " % same key</small>",
        "<caption>Calls by key</caption>",
        "distinct schedules after 400 rounds",
        "<caption>What each scheduling policy brought</caption>",
        "--keys 1 --weight contains=0 --engine controlled",
        "<dt>Compiler</dt>",
        " GiB of memory, ",
        "400 rounds in",
        "all rounds were done",
    ] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    for part in ["{{", "NaN", "http:", "https:", "src=", "@import"] {
        assert!(!page.contains(part), "{part:?}");
    }
    let json = run.json(0);
    let exercise = &json["exercise"];
    assert_eq!(exercise["rounds"], 400 - SEQUENTIAL_ROUNDS, "{exercise}");
    assert_eq!(exercise["looked"]["rounds"], 400 - SEQUENTIAL_ROUNDS);
    assert_eq!(json["never"][0]["try"], "--weight contains=8", "{}", json["never"]);
    assert_eq!(
        json["curve"].as_array().and_then(|curve| curve.last()?["rounds"].as_u64()),
        Some(400)
    );
    assert_eq!((&json["violations"], &json["processes"]), (&0.into(), &2.into()));
}

#[test]
fn exercise_counts_are_the_same_for_any_jobs_and_shards() {
    let tool = Tool::new();
    let run = |more: &str, out: &str| {
        set(&tool).rounds(6000).out(out).with(more).expect(0, &[]);
    };
    run("--jobs 1", "one");
    run("--jobs 3", "three");
    let whole = exercise(&tool, "one");
    assert_eq!(exercise(&tool, "three"), whole);
    let looked = whole["looked"]["rounds"].as_u64().expect("a number");
    assert!((4150..4300).contains(&looked), "all of the first, and some after: {looked}");
    run("--shard 0/2", "a");
    run("--shard 1/2", "b");
    let run = tool.call("merge a b").out("both").with("--html both.html");
    run.expect(0, &["both.html: the page of this run", "exercised: 3 operations"]);
    let mut both = exercise(&tool, "both");
    // Shapes that occurred in both runs count twice.
    assert!(both["shapes"].as_u64() >= whole["shapes"].as_u64());
    both["shapes"] = whole["shapes"].clone();
    assert_eq!(both, whole);
    let page = tool.read("both.html");
    for part in ["2 runs of set", "<h3>Run 2</h3>", "1/2", "Run 2: ", ">run 1</text>"] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    tool.show("one").expect(0, &["set. ", "6000 rounds", "exercised: 3 operations"]);
    tool.show("one").with("--html again.html").expect(0, &["opens in any browser"]);
    assert!(tool.read("again.html").contains("A run of set"));
    let shown = tool.show("one").json(0);
    assert_eq!(shown["statistics"]["exercise"], whole);
    tool.show("one").with("--history").expect(2, &["is a run; --history shows that of a"]);
}

#[test]
fn a_run_of_an_older_version_is_read_and_has_a_page() {
    let tool = Tool::new();
    set(&tool).rounds(50).out("new").expect(0, &[]);
    let mut ledger: Value = serde_json::from_str(&tool.read("new/run.json")).expect("JSON");
    let statistics = ledger["statistics"].as_object_mut().expect("an object");
    for field in ["exercise", "violations", "processes"] {
        assert!(statistics.remove(field).is_some(), "{field}");
    }
    let part = ledger["parts"][0].as_object_mut().expect("an object");
    for field in ["curve", "circumstances"] {
        assert!(part.remove(field).is_some(), "{field}");
    }
    std::fs::create_dir(tool.path("old")).expect("room");
    tool.write("old/run.json", &ledger.to_string());
    tool.show("old").with("--html old.html").expect(0, &[]);
    let page = tool.read("old.html");
    assert!(page.contains("A run of set") && !page.contains("Never exercised</h2>"), "{page}");
    // Joined with a new run, what is known is shown.
    tool.call("merge old new").out("both").with("--html both.html").expect(0, &["exercised: "]);
    assert!(tool.read("both.html").contains("Never exercised</h2>"));
}

#[test]
fn a_page_that_cannot_be_written_ends_a_run_before_it_begins() {
    let tool = Tool::new();
    let run = set(&tool).rounds(50).with("--html nowhere/run.html");
    let answer = run.expect(2, &["--html: cannot write nowhere/run.html"]);
    assert!(!answer.err.contains("interlap fuzz") && !tool.path("findings").exists());
    tool.call("merge x --html nowhere/run.html").expect(2, &["--html: cannot write"]);
}

#[test]
fn an_interrupted_run_has_its_page() {
    let tool = Tool::new();
    tool.write("run.html", "what was there");
    let run = tool.fuzz_text("queue.cpp", QUEUE).native().with("--html run.html");
    let mut run = run.start();
    // Its progress lines show that there were rounds.
    let mut lines = BufReader::new(run.stderr.take().expect("piped")).lines();
    let begun = lines.by_ref().find(|line| line.as_ref().is_ok_and(|l| l.contains(" rounds (")));
    assert!(begun.is_some());
    assert_eq!(tool.read("run.html"), "what was there", "until the run is over");
    let pid = run.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &pid]).status();
    assert!(kill.expect("kill starts").success());
    lines.for_each(drop);
    let answer = Answer::from_output(run.wait_with_output().expect("it ends"));
    answer.expect(0, &["Stopped; what was found is kept.", "run.html: the page of this run"]);
    let page = tool.read("run.html");
    assert!(page.contains("stopped by hand") && page.contains("dequeue → empty"), "{page}");
    let left = std::fs::read_dir(tool.dir.path()).expect("the directory");
    let names =
        left.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    assert!(!names.into_iter().any(|name| name.starts_with(".interlap")), "nothing half written");
    assert!(tool.path("findings/run.json").exists());
}
