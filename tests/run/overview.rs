//! The overview of a run: what it exercised and what it never did, as text, as JSON and as a page,
//! of one run and of several joined.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use interlap::campaign::ledger::Ledger;
use interlap::check::Undecided;
use interlap::core::operation::Op;
use interlap::fuzz::Ending;
use interlap::fuzz::exercise::{Exercise, pairs_of_answers};
use interlap::report::exercise::line;
use interlap::report::overview;
use interlap::report::overview::Found;
use interlap::report::words::{CHECKED_AGAINST, NOTHING_FOUND};
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

fn set(tool: &Tool) -> Call<'_> {
    tool.fuzz_text("set.cpp", SET).controlled()
}

fn ledger(tool: &Tool, out: &str) -> Ledger {
    Ledger::load(&tool.path(out)).expect("a run")
}

fn exercise(tool: &Tool, out: &str) -> Exercise {
    ledger(tool, out).statistics.exercise.expect("it is counted")
}

/// The operations that were called.
fn operations(exercise: &Exercise) -> Vec<Op> {
    let mut ops: Vec<Op> = exercise.answers.iter().map(|given| given.answer.op).collect();
    ops.dedup();
    ops
}

#[track_caller]
fn has_all(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
}

/// The elements that a page of a whole run has.
const SECTIONS: [&str; 8] = [
    "id=\"never\"",
    "id=\"operations\"",
    "id=\"at-once\"",
    "id=\"arguments\"",
    "id=\"schedules\"",
    "id=\"policies\"",
    "id=\"figures\"",
    "id=\"runs\"",
];

const NEVER: &str = "contains was never called (--weight leaves it out)";

#[test]
fn a_run_reports_what_it_never_did_as_text_json_and_a_page() {
    let tool = Tool::new();
    let run = set(&tool).rounds(400).with("--keys 1 --weight contains=0");
    let answer = run.clone().with("--html run.html").expect(0, &[NEVER, "--weight contains=8\n"]);
    let exercised = exercise(&tool, "findings");
    answer.expect(0, &["run.html: the page of this run", &line(&exercised)]);
    assert_eq!(operations(&exercised), [Op::SetInsert, Op::SetRemove]);
    assert_eq!(exercised.answers.len(), 4);
    let (pairs, missing) = pairs_of_answers(&exercised);
    assert_eq!((pairs, missing.len()), (10, 0), "each overlapped each");
    let page = tool.read("run.html");
    has_all(&page, &SECTIONS);
    let known = ledger(&tool, "findings").parts[0].circumstances.clone().expect("known");
    assert_eq!((known.rounds, known.ended), (400, Ending::Rounds));
    has_all(
        &page,
        &[
            NOTHING_FOUND,
            "class=\"verdict consistent\"",
            &format!("<th scope=\"row\">{NEVER}</th><td><code>--weight contains=8</code></td>"),
            "<th scope=\"row\">contains</th><td class=\"never\">",
            "<th scope=\"row\">insert → false</th>",
            "class=\"heat\"",
            "class=\"curve\"",
            "<th scope=\"row\">pct:3</th>",
            "--keys 1 --weight contains=0 --engine controlled",
            &known.compiler,
            &known.machine.sentence(),
        ],
    );
    for part in ["{{", "NaN", "http:", "https:", "src=", "@import"] {
        assert!(!page.contains(part), "{part:?}");
    }
    let json = run.json(0);
    let exercise = &json["exercise"];
    assert_eq!(exercise["rounds"], 400, "{exercise}");
    assert_eq!(exercise["looked"]["rounds"], 400);
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
    let looked = whole.looked.rounds;
    assert!((1250..1450).contains(&looked), "all of the first, and some after: {looked}");
    run("--shard 0/2", "a");
    run("--shard 1/2", "b");
    let run = tool.call("merge a b").out("both").with("--html both.html");
    let answer = run.expect(0, &["both.html: the page of this run"]);
    let mut both = exercise(&tool, "both");
    answer.expect(0, &[&line(&both)]);
    assert_eq!(operations(&both), [Op::SetInsert, Op::SetRemove, Op::SetContains]);
    // Shapes that occurred in both runs count twice.
    assert!(both.shapes >= whole.shapes);
    both.shapes = whole.shapes;
    assert_eq!(both, whole);
    let page = tool.read("both.html");
    has_all(&page, &SECTIONS);
    has_all(&page, &["<dd>0/2</dd>", "<dd>1/2</dd>"]);
    let charts = page.matches("<figure>").count();
    assert_eq!((charts, page.matches("class=\"curve\"").count()), (3, 6), "of both runs");
    tool.show("one").expect(0, &["set. ", &line(&whole)]);
    tool.show("one").with("--html again.html").expect(0, &["opens in any browser"]);
    has_all(&tool.read("again.html"), &SECTIONS);
    let shown = tool.show("one").json(0);
    assert_eq!(shown["statistics"]["rounds"], 6000);
    assert_eq!(shown["statistics"]["exercise"], serde_json::to_value(&whole).expect("JSON"));
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
    assert!(page.contains("id=\"figures\"") && !page.contains("id=\"never\""), "{page}");
    // Joined with a new run, what is known is shown.
    let run = tool.call("merge old new").out("both").with("--html both.html");
    run.expect(0, &[]).expect(0, &[&line(&exercise(&tool, "both"))]);
    has_all(&tool.read("both.html"), &["id=\"never\""]);
}

/// What a target, a machine or an earlier program wrote cannot add elements to the page.
#[test]
fn text_of_a_run_is_escaped_in_its_page() {
    let tool = Tool::new();
    set(&tool).rounds(50).out("run").expect(0, &[]);
    let evil = "</code><img src=x onerror=alert(1)>";
    let mut run = ledger(&tool, "run");
    (run.target, run.library, run.model) = (evil.into(), evil.into(), evil.into());
    let part = &mut run.parts[0];
    part.plan.build.adapter = evil.to_string();
    part.plan.weights.push((evil.to_string(), 1));
    let known = part.circumstances.as_mut().expect("known");
    known.interlap = evil.to_string();
    known.compiler = evil.to_string();
    (known.flags, known.packages) = (vec![evil.to_string()], vec![evil.to_string()]);
    known.machine.processor = evil.to_string();
    let covered = run.statistics.coverage.as_mut().expect("counted");
    let policy = covered.policies.values().next().expect("one").clone();
    covered.policies.insert(evil.to_string(), policy);
    let statistics = &mut run.statistics;
    statistics.inconclusive.insert(Undecided::OutOfOrder(evil.to_string()), 1);
    let found = Found {
        name: evil.to_string(),
        signature: evil.to_string(),
        sightings: 1,
        after_seconds: 1.0,
        confirmed: None,
        link: "\"><img src=x>".to_string(),
    };
    let page = overview::render(&run, &[found]);
    assert!(!page.contains("<img"), "{page}");
    // Each of the texts at least once.
    let escaped = page.matches("&lt;img src=x onerror=alert(1)&gt;").count();
    assert!(escaped >= 15, "{escaped}");
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
    let mut lines = BufReader::new(run.stderr.take().expect("piped")).lines();
    // Its rounds begin.
    assert!(lines.by_ref().any(|line| line.is_ok_and(|line| line.contains(CHECKED_AGAINST))));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(tool.read("run.html"), "what was there", "until the run is over");
    let pid = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    lines.for_each(drop);
    let answer = Answer::from_output(run.wait_with_output().expect("it ends"));
    assert!(answer.all().contains("run.html: the page of this run"), "{}", answer.all());
    let page = tool.read("run.html");
    assert!(page.contains("dequeue → empty"), "{page}");
    let known = ledger(&tool, "findings").parts[0].circumstances.clone().expect("known");
    assert!(known.ended == Ending::Stopped && known.rounds > 0, "{known:?}");
    let left = std::fs::read_dir(tool.dir.path()).expect("the directory");
    let names =
        left.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    assert!(!names.into_iter().any(|name| name.starts_with(".interlap")), "nothing half written");
    assert!(tool.path("findings/run.json").exists());
}

/// The wording of the page and of the lines of the summary.
mod snapshots {
    use super::*;

    #[test]
    fn the_page_of_a_run() {
        let tool = Tool::new();
        let run = set(&tool).rounds(400).with("--keys 1 --weight contains=0 --html run.html");
        let words = [
            "exercised: 2 operations with 4 kinds of answers, 10 of 10 pairs of kinds at once",
            "never exercised (and what may bring it about):",
        ];
        run.expect(0, &words);
        let words = [
            "<title>A run of set · interlap</title>",
            "<h2 id=\"heading\" tabindex=\"-1\">Nothing found</h2>",
            "<h2 id=\"never\" tabindex=\"-1\">Never exercised</h2>",
            "<td class=\"never\">✕ never</td>",
            " % same key</small>",
            "<caption>Calls by key</caption>",
            "distinct schedules after 400 rounds",
            "<caption>What each scheduling policy brought</caption>",
            "<dt>Compiler</dt>",
            " GiB of memory, ",
            "400 rounds in",
        ];
        has_all(&tool.read("run.html"), &words);
    }

    #[test]
    fn the_page_of_two_runs() {
        let tool = Tool::new();
        for (shard, out) in [("0/2", "a"), ("1/2", "b")] {
            let run = set(&tool).rounds(60).out(out);
            run.with(format!("--shard {shard}")).expect(0, &[]);
        }
        tool.call("merge a b").out("both").with("--html both.html").expect(0, &[]);
        let words = ["2 runs of set", "<h3>Run 2</h3>", "Run 2: ", ">run 1</text>"];
        has_all(&tool.read("both.html"), &words);
    }
}
