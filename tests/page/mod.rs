//! Pages: their contents, their size, their script, and that text of a history is escaped. Tests in
//! a browser are separate: `make test-pages`.

mod logic;
mod sizes;

use interlap::check::{Limits, NotShown, Verdict, check, partials};
use interlap::core::history::{History, Unit};
use interlap::core::interner::Interner;
use interlap::exchange::jsonl;
use interlap::model::Spec;
use interlap::report::words::REPRODUCE_WITH;
use interlap::view::explanation::UNEXPLAINED;
use interlap::view::explanation::sentences;
use interlap::view::explanation::undecided::reason;
use interlap::view::page;
use interlap::view::page::{Conclusion, Interleaved, Interleaving, Subject};

use crate::run::tool::Tool;

/// Two values leave a queue in the wrong order; a call never returns.
pub const BAD: &str = r#"{"interlap": 1, "model": "fifo"}
{"thread": 0, "op": "enqueue", "args": [1], "start": 10, "end": 30}
{"thread": 1, "op": "enqueue", "args": [2], "start": 35, "end": 60}
{"thread": 2, "op": "enqueue", "args": [3], "start": 50, "end": 80}
{"thread": 0, "op": "dequeue", "start": 70, "end": 90, "results": [2]}
{"thread": 1, "op": "dequeue", "start": 100, "end": 130, "results": [1]}
{"thread": 2, "op": "dequeue", "start": 110, "end": 140, "results": [3]}
{"thread": 0, "op": "enqueue", "args": [-9007199254740993], "start": 1100, "end": 1120}
{"thread": 1, "op": "dequeue", "start": 1110, "end": null, "status": "pending"}
"#;

pub fn read(text: &str) -> History {
    jsonl::read(text, None).expect("a good history").history
}

/// The same queue without the violation: the two values leave it in the right order.
pub fn good() -> String {
    let swapped = BAD.replace("\"end\": 90, \"results\": [2]", "\"end\": 90, \"results\": [1]");
    swapped.replace("\"end\": 130, \"results\": [1]", "\"end\": 130, \"results\": [2]")
}

/// The page of a history with its verdict.
pub fn page_of(history: &History, model: &str, title: &str) -> String {
    let model: Spec = model.parse().expect("a model");
    let verdict = check(history, &model, &Limits::default());
    let known = match &verdict {
        Verdict::Violation(witness) => {
            partials(history, &model, &witness.operations, &Limits::default())
        }
        _ => Err(NotShown::NoFailure),
    };
    let (conclusion, lettered) = match &verdict {
        Verdict::Consistent => (Conclusion::Consistent, Vec::new()),
        Verdict::Inconclusive(why) => (Conclusion::Inconclusive(reason(why)), Vec::new()),
        Verdict::Violation(witness) => {
            let conclusion = Conclusion::Violation {
                rule: witness.rule,
                explanation: sentences(&witness.explanation, history, &Interner::default()),
                operations: &witness.operations,
                partials: known.as_ref().map_err(Clone::clone),
            };
            (conclusion, witness.operations.clone())
        }
    };
    let model = Some(model);
    page::render(&Subject { lettered, conclusion, model, ..subject(history, title) })
}

fn subject<'a>(history: &'a History, title: &str) -> Subject<'a> {
    static STRINGS: std::sync::LazyLock<Interner> = std::sync::LazyLock::new(Interner::default);
    Subject {
        title: title.to_string(),
        about: "a test".to_string(),
        history,
        model: "fifo".parse().ok(),
        conclusion: Conclusion::Consistent,
        lettered: Vec::new(),
        unit: Unit { factor: 1.0, name: "units", is_absolute: false },
        facts: vec![(REPRODUCE_WITH.to_string(), "interlap replay x".to_string())],
        strings: &STRINGS,
        interleaving: None,
        limits: Limits::default(),
    }
}

/// The data of the page's script.
pub fn data(page: &str) -> serde_json::Value {
    let start = page.split_once("id=\"data\">").expect("data").1;
    let json = start.split_once("</script>").expect("an end").0;
    serde_json::from_str(json).expect("JSON")
}

#[test]
fn a_page_shows_the_violation() {
    let page = page_of(&read(BAD), "fifo", "bad.jsonl");
    assert!(page.contains(UNEXPLAINED) && page.contains("(fifo-order)"));
    let data = data(&page);
    assert_eq!((&data["verdict"], &data["operations"]["count"]), (&"violation".into(), &8.into()));
    // The dequeue of 2, which is too early.
    assert_eq!(data["partials"]["failed"], 3);
    assert_eq!(data["rows"], serde_json::json!(["thread 0", "thread 1", "thread 2"]));
    let search = &data["search"];
    assert_eq!(search["found"], serde_json::Value::Null);
    assert!(search["nodes"].as_array().expect("nodes").len() > 3, "{search}");
    assert!(data["order"].is_null() && data["interleaving"].is_null(), "{data}");
}

#[test]
fn the_pages_of_consistent_and_inconclusive_histories() {
    let page = page_of(&read(&good()), "fifo", "good.jsonl");
    let found = data(&page);
    assert_eq!((&found["verdict"], &found["order"]["count"]), (&"consistent".into(), &7.into()));
    assert_eq!(found["order"]["states"][0], "[1]");
    assert!(found["partials"].is_null() && !found["search"]["found"].is_null(), "{found}");
    let history = read(BAD);
    let conclusion = Conclusion::Inconclusive("it would take too long".to_string());
    let page = page::render(&Subject { conclusion, ..subject(&history, "x") });
    assert_eq!(data(&page)["verdict"], "inconclusive");
    assert!(page.contains("<p>it would take too long</p>"));
}

#[test]
fn a_fault_has_the_last_calls_and_no_search() {
    let history = read(BAD);
    let conclusion = Conclusion::Fault {
        sentence: "It crashed <here>.".to_string(),
        more: vec!["queue.h:7".to_string()],
    };
    let lettered = history.ids().collect();
    let page = page::render(&Subject { conclusion, lettered, ..subject(&history, "x") });
    assert!(page.contains("<p>It crashed &lt;here&gt;.</p><p>queue.h:7</p>"));
    let data = data(&page);
    assert!(data["search"].is_null() && data["witness"].as_array().is_some_and(Vec::is_empty));
    assert_eq!(data["lettered"].as_array().map(Vec::len), Some(8));
}

#[test]
fn a_page_has_the_interleaving_if_it_is_known() {
    let history = read(BAD);
    let operation = history.ids().next();
    let step = Interleaved {
        step: 12,
        thread: 1,
        operation,
        what: "compare-exchange of tail failed".to_string(),
        file: Some("queue.h".to_string()),
        line: Some(7),
        from: Some(31),
        text: Some("  tail.compare_exchange_weak(old, node)".to_string()),
        is_switch: true,
    };
    let interleaving = Some(Interleaving { steps: vec![step], left_out: 3 });
    let data = data(&page::render(&Subject { interleaving, ..subject(&history, "x") }));
    let step = &data["interleaving"]["steps"][0];
    assert_eq!((&step["thread"], &step["operation"]), (&"thread 1".into(), &0.into()));
    assert_eq!((&step["line"], &step["switch"]), (&7.into(), &true.into()));
    assert_eq!(step["from"], 31);
    assert_eq!(data["interleaving"]["left_out"], 3);
}

#[test]
fn text_of_a_history_is_escaped() {
    let evil = "</script><script>alert(1)</script><!--{{style}}";
    let tool = Tool::new();
    let text = format!(
        "{{\"interlap\": 1, \"model\": \"kv\"}}\n\
         {{\"thread\": 0, \"op\": \"put\", \"args\": [{evil:?}, {evil:?}], \
         \"start\": 1, \"end\": 2}}\n\
         {{\"thread\": 1, \"op\": \"get\", \"args\": [{evil:?}], \"start\": 3, \"end\": 4, \
         \"results\": [\"&amp;</SCRIPT>\"]}}\n"
    );
    tool.write("evil.jsonl", &text);
    tool.check("evil.jsonl").with("--html evil.html").expect(1, &["violates kv"]);
    let page = tool.read("evil.html");
    // The elements of the data, the script and its guard, and no other.
    assert_eq!(page.matches("<script").count(), 3, "{page}");
    assert_eq!(page.to_lowercase().matches("</script").count(), 3);
    let strings = data(&page)["strings"].to_string();
    assert!(strings.contains("alert(1)") && strings.contains("</SCRIPT>"), "{strings}");
    let title = page_of(&read(BAD), "fifo", evil);
    assert_eq!(title.matches("<script").count(), 3);
    assert!(title.contains("&lt;/script&gt;"));
}

#[test]
fn a_page_without_scripts_shows_the_violation_and_how_to_reproduce_it() {
    let history = read(BAD);
    let facts = vec![(REPRODUCE_WITH.to_string(), "interlap replay <x>".to_string())];
    let conclusion = Conclusion::Inconclusive("it would take too long".to_string());
    let page = page::render(&Subject { conclusion, facts, ..subject(&history, "x") });
    let plain = page.split_once("id=\"data\">").expect("data").0;
    let fact = format!("<dt>{REPRODUCE_WITH}</dt><dd><code>interlap replay &lt;x&gt;</code>");
    assert!(plain.contains(&fact));
    assert!(plain.contains("<p>it would take too long</p>") && plain.contains("<noscript>"));
    assert!(!page_without_facts(&history).contains("id=\"facts\""));
}

fn page_without_facts(history: &History) -> String {
    page::render(&Subject { facts: Vec::new(), ..subject(history, "x") })
}

#[test]
fn the_glossary_is_in_each_page_and_named_by_readme_and_help() {
    let page = page_of(&read(BAD), "fifo", "x");
    let plain = page.split_once("id=\"data\">").expect("data").0;
    assert!(plain.contains("<dt id=\"term-linearization-point\">linearization point</dt>"));
    assert!(plain.contains("<a href=\"#term-response\">response</a>"));
    let readme = crate::run::tool::read(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
    assert!(readme.contains("[glossary](docs/glossary.md)"));
    Tool::new().call("--help").expect(0, &["docs/glossary.md"]);
}

#[test]
fn a_page_loads_nothing() {
    let page = page_of(&read(BAD), "fifo", "x");
    assert!(page.contains("default-src 'none'"));
    for word in ["http://", "https://", "@import", "fetch(", "XMLHttpRequest", "import(", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(!page.contains("{{") && !page.contains("}}\n{"), "a name is left in the template");
}

#[test]
fn check_writes_the_page_of_the_first_bad_history() {
    let tool = Tool::new();
    tool.write("bad.jsonl", BAD);
    let answer = tool.check("bad.jsonl").with("--html page.html").expect(1, &["violates fifo"]);
    assert!(answer.err.contains("page.html: the page of bad.jsonl"), "{}", answer.err);
    let json = tool.check("bad.jsonl").with("--html page.html").json(1);
    assert_eq!(json[0]["verdict"], "violation");
    let run = tool.check("bad.jsonl").with("--html no/such/page.html");
    let nowhere = run.expect(2, &["cannot write no/such/page.html"]);
    assert!(nowhere.out.is_empty(), "printed before the check: {}", nowhere.out);
}

/// The wording of verdicts.
mod snapshots {
    use super::*;

    #[test]
    fn the_heading_of_a_page() {
        let bad = page_of(&read(BAD), "fifo", "x");
        assert!(bad.contains("No order of the calls explains the answers (fifo-order)"));
        let good = page_of(&read(&good()), "fifo", "x");
        assert!(good.contains("Consistent: some order of the calls explains every answer"));
        let history = read(BAD);
        let conclusion = Conclusion::Inconclusive("it would take too long".to_string());
        let page = page::render(&Subject { conclusion, ..subject(&history, "x") });
        assert!(page.contains("Not decided: whether some order explains the answers is unknown"));
    }
}
