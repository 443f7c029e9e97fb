//! Known issues and reports for continuous integration: real runs of broken twins, marked by files
//! of known issues; what is new still counts; reports are read back as others read them.

use std::path::Path;

use serde_json::Value;

use super::adapters::enqueue;
use super::tool::Tool;

/// Two bugs as far as signatures tell, in rounds that are the same each time.
const TWIN: [&str; 9] =
    ["fuzz", "treiber_aba", "--seed", "1", "--rounds", "2000", "--jobs", "1", "--findings"];

fn twin(tool: &Tool, findings: &str, more: &[&str]) -> super::tool::Answer {
    tool.run(&[&TWIN[..], &[findings], more].concat())
}

fn write(tool: &Tool, file: &str, text: &str) {
    std::fs::write(tool.dir.path().join(file), text).expect("written");
}

fn read(tool: &Tool, file: &str) -> String {
    std::fs::read_to_string(tool.dir.path().join(file)).expect(file)
}

fn sarif(tool: &Tool, file: &str) -> Value {
    serde_json::from_str(&read(tool, file)).expect("JSON")
}

/// What JUnit XML has, as Jenkins' schema says (junit-10.xsd of its xUnit plugin): elements, with
/// their attributes and what may be in them. Beyond it are how many were skipped in all, and a
/// case's place, which GitLab and others show.
const JUNIT: [(&str, &[&str], &[&str]); 7] = [
    ("testsuites", &["name", "tests", "skipped", "failures", "errors", "time"], &["testsuite"]),
    ("testsuite", &["name", "tests", "skipped", "failures", "errors", "time"], &["testcase"]),
    (
        "testcase",
        &["name", "classname", "time", "file", "line"],
        &["failure", "error", "skipped", "system-out"],
    ),
    ("failure", &["message", "type"], &[]),
    ("error", &["message", "type"], &[]),
    ("skipped", &["message"], &[]),
    ("system-out", &[], &[]),
];

/// An element has nothing that its readers do not know, and no case the name of another.
#[track_caller]
fn is_junit(element: roxmltree::Node) {
    let name = element.tag_name().name();
    let (_, attributes, children) = JUNIT.iter().find(|(tag, ..)| *tag == name).expect(name);
    for attribute in element.attributes() {
        assert!(attributes.contains(&attribute.name()), "{name} {}", attribute.name());
    }
    let inside = || element.children().filter(roxmltree::Node::is_element);
    let names: Vec<_> = inside().filter_map(|child| child.attribute("name")).collect();
    assert!((1..names.len()).all(|at| !names[..at].contains(&names[at])), "{names:?}");
    for child in inside() {
        assert!(
            children.contains(&child.tag_name().name()),
            "{} in {name}",
            child.tag_name().name()
        );
        is_junit(child);
    }
}

/// Number of test cases, of those that failed, in error, skipped, as the root and its elements say.
#[track_caller]
fn counts(xml: &str) -> [usize; 4] {
    let document = roxmltree::Document::parse(xml).expect("well formed");
    let cases = || document.descendants().filter(|node| node.has_tag_name("testcase"));
    let with = |tag| cases().filter(|case| case.children().any(|n| n.has_tag_name(tag))).count();
    let counted = [cases().count(), with("failure"), with("error"), with("skipped")];
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    is_junit(root);
    let reason =
        |node: roxmltree::Node| node.text().is_some() && node.attribute("message").is_some();
    assert!(document.descendants().filter(|node| node.has_tag_name("skipped")).all(reason));
    let said = |name| root.attribute(name).and_then(|n| n.parse::<usize>().ok());
    let said = ["tests", "failures", "errors", "skipped"].map(said);
    assert_eq!(said, counted.map(Some));
    counted
}

/// A result has what viewers want of it.
#[track_caller]
fn is_whole(run: &Value, result: &Value) {
    let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("one") as usize];
    assert_eq!(rule["id"], result["ruleId"]);
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("replay")));
    assert!(result["partialFingerprints"]["interlapSignature/v1"].is_string());
    let place = &result["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].is_string(), "{result}");
}

#[test]
fn a_run_goes_on_past_what_is_known() {
    let tool = Tool::new();
    twin(&tool, "1", &["--out", "one"]).expect(1, &["Stopped at the limit"]);
    let add = ["triage", "one", "--known", "known.toml", "--issue", "https://x.org/7", "--add"];
    tool.run(&[&add[..], &["first bug"]].concat()).expect(0, &["first bug", "is known now"]);
    tool.run(&[&add[..], &["again"]].concat()).expect(2, &["is known already, as first bug"]);
    let more = ["--known", "known.toml", "--out", "two", "--junit", "r/j.xml", "--sarif", "r/s"];
    let answer = twin(&tool, "1", &more);
    answer.expect(1, &["known: first bug (https://x.org/7): 1 finding", "2 findings (1 known)"]);
    assert_eq!(counts(&read(&tool, "r/j.xml")), [3, 1, 0, 1]);
    assert!(read(&tool, "r/j.xml").contains("known: first bug (https://x.org/7)"));
    let report = sarif(&tool, "r/s");
    let results = report["runs"][0]["results"].as_array().expect("results");
    results.iter().for_each(|result| is_whole(&report["runs"][0], result));
    let suppressed: Vec<&Value> = results.iter().filter_map(|r| r.get("suppressions")).collect();
    assert_eq!((results.len(), suppressed.len()), (2, 1));
    assert_eq!(suppressed[0][0]["kind"], "external");
    assert_eq!(suppressed[0][0]["justification"], "first bug (https://x.org/7)");
    // The new one is the second; with that, nothing is new, and the run ends with its rounds.
    let listed = tool.run(&["triage", "two", "--known", "known.toml", "--json"]);
    let new = listed.json()["findings"][0]["directory"].as_str().expect("new first").to_string();
    let second = ["triage", &new, "--known", "known.toml", "--add", "second bug"];
    tool.run(&second).expect(0, &["second bug"]);
    let all = ["--known", "known.toml", "--out", "three", "--json"];
    let answer = twin(&tool, "1", &all);
    let json = answer.expect(0, &["\"nothing-found\""]).json();
    assert_eq!((&json["rounds"], &json["known_findings"]), (&2000.into(), &2.into()));
    assert_eq!(json["known"][1]["name"], "second bug");
    let seen = json["known"].as_array().expect("known").iter();
    assert!(seen.map(|known| known["sightings"].as_u64().expect("a count")).sum::<u64>() > 2);
    let merged = ["merge", "one", "three", "--out", "both"];
    tool.run(&merged).expect(1, &["both/", "known: second bug", "2 findings (1 known)"]);
    let known = ["--known", "known.toml", "--junit", "-"];
    let answer = tool.run(&[&merged[..], &known].concat());
    assert_eq!((answer.status, counts(&answer.out)), (0, [3, 0, 0, 2]));
}

#[test]
fn findings_of_many_runs_are_sorted() {
    let tool = Tool::new();
    twin(&tool, "9", &["--out", "runs/a"]).expect(1, &["2 findings"]);
    twin(&tool, "9", &["--out", "runs/b"]).expect(1, &["2 findings"]);
    let other = ["fuzz", "ring_spsc_early_publish", "--seed", "5", "--findings", "1"];
    tool.run(&[&other[..], &["--out", "runs/c"]].concat()).expect(1, &["1 findings"]);
    let answer = tool.run(&["triage", "runs"]);
    answer.expect(1, &["3 distinct, 3 new, of 3 runs", "ring_spsc_early_publish", "calls of"]);
    let line = answer
        .out
        .lines()
        .find(|line| line.starts_with("new ") && line.contains(" treiber_aba "))
        .expect("one");
    assert!(line.split_whitespace().any(|word| word == "2"), "two runs: {line}");
    let known = "[[known]]\nname = 'stack'\ntarget = 'treiber_*'\n\n\
                 [[known]]\nname = 'old'\nfault = 'use-after-free'\n";
    write(&tool, "known.toml", known);
    let more = ["--known", "known.toml", "--junit", "j.xml", "--sarif", "s.sarif"];
    let answer = tool.run(&[&["triage", "runs"][..], &more].concat());
    answer.expect(1, &["3 distinct, 1 new", "known: stack: 2 findings"]);
    answer.expect(1, &["known.toml:5: \"old\" fits nothing here"]);
    // Three runs, and each bug once; suites are targets.
    assert_eq!(counts(&read(&tool, "j.xml")), [6, 1, 0, 2]);
    assert_eq!(read(&tool, "j.xml").matches("<testsuite ").count(), 2);
    assert_eq!(sarif(&tool, "s.sarif")["runs"][0]["results"].as_array().expect("all").len(), 3);
    let json = tool.run(&["triage", "runs", "--known", "known.toml", "--json"]).json();
    assert_eq!((&json["new"], &json["stale"]), (&1.into(), &serde_json::json!(["old"])));
    assert_eq!(json["findings"][0]["target"], "ring_spsc_early_publish");
    assert_eq!(json["findings"][1]["runs"], serde_json::json!(["runs/a", "runs/b"]));
    write(&tool, "all.toml", "[[known]]\nname = 'all'\nrule = '*'\n");
    tool.run(&["triage", "runs", "--known", "all.toml"]).expect(0, &["3 distinct, 0 new"]);
    // One that cannot be read takes nothing from the others, and is an error.
    std::fs::create_dir(tool.dir.path().join("runs/a/bad-0000")).expect("a directory");
    write(&tool, "runs/a/bad-0000/finding.json", "{");
    let answer = tool.run(&["triage", "runs", "--known", "all.toml"]);
    answer.expect(2, &["3 distinct, 0 new", "bad-0000/finding.json is damaged"]);
}

#[test]
fn faults_are_known_by_their_lines() {
    let tool = Tool::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/controlled/abba.cpp");
    let text = std::fs::read_to_string(data).expect("abba.cpp");
    let planted = text.lines().position(|line| line.contains("BUG")).expect("a bug") + 1;
    let more = ["--rounds", "60", "--jobs", "1", "--findings", "1", "--sarif", "s.sarif"];
    tool.fuzz("abba.cpp", &text, &more).expect(1, &["deadlock"]);
    let report = sarif(&tool, "s.sarif");
    let (run, result) = (&report["runs"][0], &report["runs"][0]["results"][0]);
    is_whole(run, result);
    assert_eq!(result["ruleId"], "fault/deadlock");
    let related = result["relatedLocations"].as_array().expect("the other thread").iter();
    let places = related.chain(result["locations"].as_array().expect("one"));
    let places: Vec<&Value> = places.map(|place| &place["physicalLocation"]).collect();
    let at = |place: &&Value| place["region"]["startLine"] == planted;
    assert!(places.iter().any(at), "{result}");
    let file = serde_json::json!({"uri": "abba.cpp", "uriBaseId": "%SRCROOT%"});
    assert!(places.iter().all(|place| place["artifactLocation"] == file), "{result}");
    // The process's end is no end of the run: each deadlock ends a round.
    let known =
        format!("[[known]]\nname = 'abba'\nfault = 'deadlock'\nline = 'abba.cpp:{planted}'");
    write(&tool, "known.toml", &known);
    let known =
        [&more[..6], &["--known", "known.toml", "--for", "300s", "--out", "again", "--json"]]
            .concat();
    let json = tool.fuzz("abba.cpp", &text, &known).expect(0, &[]).json();
    assert_eq!(json["rounds"].as_u64().expect("all") + json["faults"].as_u64().expect("some"), 60);
    assert!(json["faults"].as_u64() > Some(2), "{json}");
    // Another line is another bug.
    write(&tool, "known.toml", "[[known]]\nname = 'other'\nfault = '*'\nline = 'abba.cpp:1-2'\n");
    let answer = tool.fuzz("abba.cpp", &text, &known[..8]);
    answer.expect(1, &["known, but not seen in this run: other"]);
}

#[test]
fn words_of_a_crash_cannot_break_reports() {
    let tool = Tool::new();
    let text = enqueue(
        "if (added > 20) { fputs(\"ERROR: \\x1b[31m\\x01 <&]]>\\xef\\xbf\\xbf\\xff '\\\"\\n\", \
         stderr); abort(); }",
    );
    let more = ["--engine", "native", "--rounds", "40", "--findings", "1", "--calls", "50"];
    let reports = ["--junit", "j.xml", "--sarif", "s.sarif"];
    tool.fuzz("bad.cpp", &text, &[&more[..], &reports].concat()).expect(1, &["SIGABRT"]);
    let xml = read(&tool, "j.xml");
    assert_eq!(counts(&xml), [2, 1, 0, 0]);
    let document = roxmltree::Document::parse(&xml).expect("well formed");
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("one");
    assert!(failure.attribute("message").is_some_and(|m| m.contains("ERROR:  <&]]>")), "{xml}");
    let report = sarif(&tool, "s.sarif");
    let result = &report["runs"][0]["results"][0];
    is_whole(&report["runs"][0], result);
    assert_eq!(result["ruleId"], "fault/SIGABRT");
    // No line of it is known: it is the adapter's.
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "bad.cpp");
    let add = ["triage", "--known", "known.toml", "--add", "a \"crash\""];
    tool.run(&add).expect(0, &["fault = \"SIGABRT\"", "message = "]);
    let known = [&more[..], &["--known", "known.toml", "--out", "again"]].concat();
    tool.fuzz("bad.cpp", &text, &known).expect(0, &["known: a \"crash\""]);
}

#[test]
fn lines_of_violations_are_known_when_they_are_shrunk() {
    let tool = Tool::new();
    let known = "[[known]]\nname = 'split'\nrule = 'not-lin*'\n\
                 operations = ['read', 'write', 'compare_exchange*']\n\
                 function = 'TwoSteps::*'\nline = 'atomic_register_split_cas.cpp'\n";
    write(&tool, "known.toml", known);
    let run =
        ["fuzz", "atomic_register_split_cas", "--seed", "5", "--rounds", "150", "--jobs", "1"];
    let run = [&run[..], &["--findings", "1", "--known", "known.toml"]].concat();
    // Without shrinking nobody knows the lines, and what may be known counts as new.
    let answer = tool.run(&[&run[..], &["--out", "a", "--shrink", "0"]].concat());
    answer.expect(1, &["Stopped at the limit"]);
    let shrink = ["--out", "b", "--shrink", "10s", "--sarif", "s.sarif"];
    tool.run(&[&run[..], &shrink].concat()).expect(0, &["known: split", "Nothing new was found."]);
    let (report, mut flowing) = (sarif(&tool, "s.sarif"), 0);
    for result in report["runs"][0]["results"].as_array().expect("results") {
        is_whole(&report["runs"][0], result);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["snippet"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        // One that is hardly shrunk may show nothing that others notice.
        let Some(flows) = result["codeFlows"][0]["threadFlows"].as_array() else { continue };
        flowing += 1;
        let steps = flows.iter().flat_map(|flow| flow["locations"].as_array().expect("steps"));
        let mut order: Vec<u64> =
            steps.map(|step| step["executionOrder"].as_u64().expect("a number")).collect();
        assert!(flows.len() >= 2 && order.len() > 4, "{result}");
        order.sort_unstable();
        assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "one order: {order:?}");
    }
    assert!(flowing > 0, "{report}");
}

#[test]
fn an_adapter_that_fails_alone_may_be_known_too() {
    let tool = Tool::new();
    let text = enqueue("if (added > 5) return true;");
    let more = ["--rounds", "60", "--jobs", "1", "--calls", "20", "--engine", "controlled"];
    tool.fuzz("bad.cpp", &text, &more).expect(1, &["one thread at a time"]);
    write(&tool, "known.toml", "[[known]]\nname = 'drops'\ntarget = 'bad'\n");
    let known = [&more[..], &["--known", "known.toml", "--json", "--out", "again"]].concat();
    assert_eq!(tool.fuzz("bad.cpp", &text, &known).expect(0, &[]).json()["rounds"], 60);
}

#[test]
fn what_is_wrong_is_told_before_a_run() {
    let tool = Tool::new();
    write(&tool, "known.toml", "[[known]]\nname = 'a'\nruel = 'x'\n");
    twin(&tool, "1", &["--known", "known.toml"]).expect(2, &["known.toml", "line 3", "`ruel`"]);
    tool.run(&["triage", "--known", "known.toml"]).expect(2, &["line 3"]);
    twin(&tool, "1", &["--known", "none.toml"]).expect(2, &["none.toml", "--add NAME"]);
    for option in ["--junit", "--sarif"] {
        twin(&tool, "1", &[option, "known.toml/x"]).expect(2, &["known.toml"]);
        twin(&tool, "1", &[option, "-", "--json"]).expect(2, &["standard output"]);
    }
    twin(&tool, "1", &["--junit", "x", "--sarif", "x"]).expect(2, &["cannot both go to x"]);
    assert!(!tool.dir.path().join("findings").exists(), "nothing was run");
    tool.run(&["triage"]).expect(2, &["cannot read findings", "interlap fuzz --out"]);
    tool.run(&["triage", "."]).expect(2, &["holds neither a finding nor a run"]);
    // What could not be run is an error in reports.
    let answer = tool.fuzz("bad.cpp", "not C++", &["--junit", "j.xml", "--sarif", "s.sarif"]);
    answer.expect(2, &["error"]);
    assert_eq!(counts(&read(&tool, "j.xml")), [1, 0, 1, 0]);
    let run = &sarif(&tool, "s.sarif")["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn a_run_that_finds_nothing_passes_and_histories_are_test_cases() {
    let tool = Tool::new();
    let run = ["fuzz", "ms_queue", "--seed", "1", "--rounds", "50", "--junit", "-"];
    let answer = tool.run(&run);
    assert_eq!((answer.status, counts(&answer.out)), (0, [1, 0, 0, 0]), "{}", answer.all());
    assert!(answer.out.contains("time=\""), "{}", answer.out);
    tool.run(&["triage"]).expect(0, &["Nothing was found.", "0 distinct, 0 new, of 1 run."]);
    let line = |op: &str, start: u64| {
        let end = start + 1;
        format!(
            "{{\"thread\": 0, \"op\": \"{op}\", \"args\": [1], \"start\": {start}, \
                 \"end\": {end}, \"status\": \"ok\"}}\n"
        )
    };
    let pop = line("dequeue", 3).replace("\"args\": [1]", "\"results\": [2]");
    write(&tool, "bad.jsonl", &format!("{}{pop}", line("enqueue", 1)));
    let answer = tool.run(&["check", "bad.jsonl", "--model", "fifo", "--junit", "-"]);
    assert_eq!((answer.status, counts(&answer.out)), (1, [1, 1, 0, 0]), "{}", answer.all());
    write(&tool, "good.jsonl", &line("enqueue", 1));
    let check = ["check", "good.jsonl", "--model", "fifo", "--junit", "j.xml"];
    tool.run(&check).expect(0, &["consistent"]);
    assert_eq!(counts(&read(&tool, "j.xml")), [1, 0, 0, 0]);
    let check = ["check", "gone.jsonl", "--model", "fifo", "--junit", "j.xml"];
    tool.run(&check).expect(2, &["gone.jsonl"]);
    assert_eq!(counts(&read(&tool, "j.xml")), [1, 0, 1, 0]);
}
