//! Known issues and reports for continuous integration: real runs of broken twins, with files of
//! known issues. New findings still count; reports are read back as other programs read them.

use std::path::{Path, PathBuf};

use interlap::finding::Stored;
use serde_json::Value;

use super::adapters::enqueue;
use super::tool::{Answer, Tool, data, findings, read};

/// Two bugs by their signatures, in rounds that are the same each time.
fn twin(tool: &Tool, findings: u64, more: &str) -> Answer {
    let run = tool.fuzz("treiber_aba").seed(1).rounds(2000).jobs(1).findings(findings);
    run.with(more).run()
}

fn sarif(tool: &Tool, file: &str) -> Value {
    serde_json::from_str(&tool.read(file)).expect("JSON")
}

/// The elements of JUnit XML by Jenkins' schema (junit-10.xsd of its xUnit plugin), with their
/// attributes and children. Also the total of skipped cases, and a case's file and line, which
/// GitLab and others show.
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

/// Asserts that an element has only known attributes and children, and that names of cases differ.
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

/// Numbers of test cases: all, failed, in error, skipped. The root and its elements must agree.
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
    let stated = |name| root.attribute(name).and_then(|n| n.parse::<usize>().ok());
    let stated = ["tests", "failures", "errors", "skipped"].map(stated);
    assert_eq!(stated, counted.map(Some));
    counted
}

/// How many findings in a folder are known, and how many are new.
fn known_and_new(folder: &Path) -> (usize, usize) {
    let load = |finding: &PathBuf| Stored::load(finding).expect("a finding").finding;
    let (known, new): (Vec<_>, Vec<_>) =
        findings(folder).iter().map(load).partition(|finding| finding.known.is_some());
    (known.len(), new.len())
}

/// Asserts that a result has what viewers need.
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
fn a_run_continues_past_known_findings() {
    let tool = Tool::new();
    twin(&tool, 1, "--out one").expect(1, &[]).finding();
    let add = tool.call("triage one --known known.toml --issue https://x.org/7 --add");
    add.clone().arg("first bug").expect(0, &["first bug", "is known now"]);
    add.arg("again").expect(2, &["is known already, as first bug"]);
    let answer = twin(&tool, 1, "--known known.toml --out two --junit r/j.xml --sarif r/s");
    answer.expect(1, &["first bug (https://x.org/7)"]);
    assert_eq!(known_and_new(&tool.path("two")), (1, 1));
    assert_eq!(counts(&tool.read("r/j.xml")), [3, 1, 0, 1]);
    assert!(tool.read("r/j.xml").contains("first bug (https://x.org/7)"));
    let report = sarif(&tool, "r/s");
    let results = report["runs"][0]["results"].as_array().expect("results");
    results.iter().for_each(|result| is_whole(&report["runs"][0], result));
    let suppressed: Vec<&Value> = results.iter().filter_map(|r| r.get("suppressions")).collect();
    assert_eq!((results.len(), suppressed.len()), (2, 1));
    assert_eq!(suppressed[0][0]["kind"], "external");
    assert_eq!(suppressed[0][0]["justification"], "first bug (https://x.org/7)");
    // The second finding is new. Once it is known, too, nothing is new, and the run does all
    // rounds.
    let listed = tool.call("triage two --known known.toml").json(1);
    let new = listed["findings"][0]["directory"].as_str().expect("new first");
    let add = tool.call("triage").arg(new).with("--known known.toml --add").arg("second bug");
    add.expect(0, &["second bug"]);
    let answer = twin(&tool, 1, "--known known.toml --out three --json");
    let json = answer.expect(0, &["\"nothing-found\""]).json();
    assert_eq!((&json["rounds"], &json["known_findings"]), (&2000.into(), &2.into()));
    assert_eq!(json["known"][1]["name"], "second bug");
    let seen = json["known"].as_array().expect("known").iter();
    assert!(seen.map(|known| known["sightings"].as_u64().expect("a count")).sum::<u64>() > 2);
    let merge = tool.call("merge one three --out both");
    merge.clone().expect(1, &["both/", "second bug"]);
    assert_eq!(known_and_new(&tool.path("both")), (1, 1));
    let answer = merge.with("--known known.toml --junit -").run();
    assert_eq!((answer.status, counts(&answer.out)), (0, [3, 0, 0, 2]));
}

#[test]
fn findings_of_many_runs_are_sorted() {
    let tool = Tool::new();
    for folder in ["runs/a", "runs/b"] {
        twin(&tool, 9, &format!("--out {folder}")).expect(1, &[]);
        assert_eq!(known_and_new(&tool.path(folder)), (0, 2));
    }
    let run = tool.fuzz("ring_spsc_early_publish").seed(5).findings(1).out("runs/c");
    run.expect(1, &[]).finding();
    let answer = tool
        .call("triage runs")
        .expect(1, &["3 distinct, 3 new, of 3 runs", "ring_spsc_early_publish", "calls of"]);
    let line = answer
        .out
        .lines()
        .find(|line| line.starts_with("new ") && line.contains(" treiber_aba "))
        .expect("one");
    assert!(line.split_whitespace().any(|word| word == "2"), "two runs: {line}");
    let known = "[[known]]\nname = 'stack'\ntarget = 'treiber_*'\n\n\
                 [[known]]\nname = 'old'\nfault = 'use-after-free'\n";
    tool.write("known.toml", known);
    let answer = tool
        .call("triage runs --known known.toml --junit j.xml --sarif s.sarif")
        .expect(1, &["3 distinct, 1 new", "stack"]);
    answer.expect(1, &["known.toml:5: \"old\" fits nothing here"]);
    // Three runs, with each bug once; a suite is a target.
    assert_eq!(counts(&tool.read("j.xml")), [6, 1, 0, 2]);
    assert_eq!(tool.read("j.xml").matches("<testsuite ").count(), 2);
    assert_eq!(sarif(&tool, "s.sarif")["runs"][0]["results"].as_array().expect("all").len(), 3);
    let json = tool.call("triage runs --known known.toml").json(1);
    assert_eq!((&json["new"], &json["stale"]), (&1.into(), &serde_json::json!(["old"])));
    let known = &json["known"][0];
    assert_eq!((&known["name"], &known["findings"]), (&"stack".into(), &2.into()));
    assert_eq!(json["findings"][0]["target"], "ring_spsc_early_publish");
    assert_eq!(json["findings"][1]["runs"], serde_json::json!(["runs/a", "runs/b"]));
    tool.write("all.toml", "[[known]]\nname = 'all'\nrule = '*'\n");
    tool.call("triage runs --known all.toml").expect(0, &["3 distinct, 0 new"]);
    // A finding that cannot be read is an error, and does not affect the others.
    std::fs::create_dir(tool.path("runs/a/bad-0000")).expect("a directory");
    tool.write("runs/a/bad-0000/finding.json", "{");
    tool.call("triage runs --known all.toml")
        .expect(2, &["3 distinct, 0 new", "bad-0000/finding.json is damaged"]);
}

#[test]
fn faults_are_known_by_their_lines() {
    let tool = Tool::new();
    let text = read(data("controlled/abba.cpp"));
    let planted = text.lines().position(|line| line.contains("BUG")).expect("a bug") + 1;
    let fuzz = tool.fuzz(tool.write("abba.cpp", &text)).seed(1).rounds(60).jobs(1).findings(1);
    fuzz.clone().with("--sarif s.sarif").expect(1, &["deadlock"]);
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
    // Each deadlock ends a process and its round, not the run.
    let known =
        format!("[[known]]\nname = 'abba'\nfault = 'deadlock'\nline = 'abba.cpp:{planted}'");
    tool.write("known.toml", &known);
    let fuzz = fuzz.with("--known known.toml");
    let json = fuzz.clone().out("again").json(0);
    assert_eq!(json["rounds"].as_u64().expect("all") + json["faults"].as_u64().expect("some"), 60);
    assert!(json["faults"].as_u64() > Some(2), "{json}");
    // Another line is another bug.
    tool.write("known.toml", "[[known]]\nname = 'other'\nfault = '*'\nline = 'abba.cpp:1-2'\n");
    fuzz.expect(1, &["known, but not seen in this run: other"]);
}

#[test]
fn the_output_of_a_crash_cannot_break_reports() {
    let tool = Tool::new();
    let text = enqueue(
        "if (added > 20) { fputs(\"ERROR: \\x1b[31m\\x01 <&]]>\\xef\\xbf\\xbf\\xff '\\\"\\n\", \
         stderr); abort(); }",
    );
    let adapter = tool.write("bad.cpp", &text);
    let run = tool.fuzz(adapter).seed(1).native().rounds(40).findings(1).calls(50);
    run.clone().with("--junit j.xml --sarif s.sarif").expect(1, &["SIGABRT"]);
    let xml = tool.read("j.xml");
    assert_eq!(counts(&xml), [2, 1, 0, 0]);
    let document = roxmltree::Document::parse(&xml).expect("well formed");
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("one");
    assert!(failure.attribute("message").is_some_and(|m| m.contains("ERROR:  <&]]>")), "{xml}");
    let report = sarif(&tool, "s.sarif");
    let result = &report["runs"][0]["results"][0];
    is_whole(&report["runs"][0], result);
    assert_eq!(result["ruleId"], "fault/SIGABRT");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "bad.cpp");
    let add = tool.call("triage --known known.toml --add").arg("a \"crash\"");
    add.expect(0, &["fault = \"SIGABRT\"", "line = \"bad.cpp:"]);
    let json = run.with("--known known.toml").out("again").json(0);
    assert_eq!(json["known"][0]["name"], "a \"crash\"");
}

#[test]
fn shrunk_violations_are_known_by_their_lines() {
    let tool = Tool::new();
    let known = "[[known]]\nname = 'split'\nrule = 'not-lin*'\n\
                 operations = ['read', 'write', 'compare_exchange*']\n\
                 function = 'TwoSteps::*'\nline = 'atomic_register_split_cas.cpp'\n";
    tool.write("known.toml", known);
    let run = tool.fuzz("atomic_register_split_cas").seed(5).rounds(150).jobs(1).findings(1);
    let run = run.with("--known known.toml");
    // Without shrinking the lines are unknown, and the finding counts as new.
    run.clone().out("a").shrinking("0").expect(1, &[]);
    assert_eq!(known_and_new(&tool.path("a")).1, 1);
    let run = run.out("b").shrinking("60s").with("--sarif s.sarif");
    let json = run.json(0);
    assert_eq!(json["known"][0]["name"], "split", "{json}");
    assert_eq!(json["rounds"], 150, "{json}");
    assert_eq!(known_and_new(&tool.path("b")).1, 0);
    let (report, mut flowing) = (sarif(&tool, "s.sarif"), 0);
    for result in report["runs"][0]["results"].as_array().expect("results") {
        is_whole(&report["runs"][0], result);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert!(region["snippet"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        // A barely shrunk finding may have no row that other threads notice.
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
    let run = tool.fuzz_text("bad.cpp", &text).rounds(60).jobs(1).calls(20).controlled();
    // It ends the run, unless it is known.
    let stored = run.clone().expect(1, &[]).stored();
    assert!(stored.round.start.sequential);
    let ledger: Value = serde_json::from_str(&tool.read("findings/run.json")).expect("JSON");
    assert_eq!(ledger["parts"][0]["circumstances"]["ended"], "not-sequential");
    tool.write("known.toml", "[[known]]\nname = 'drops'\ntarget = 'bad'\n");
    assert_eq!(run.with("--known known.toml").out("again").json(0)["rounds"], 60);
}

#[test]
fn bad_options_are_reported_before_a_run() {
    let tool = Tool::new();
    tool.write("known.toml", "[[known]]\nname = 'a'\nruel = 'x'\n");
    twin(&tool, 1, "--known known.toml").expect(2, &["known.toml", "line 3", "`ruel`"]);
    tool.call("triage --known known.toml").expect(2, &["line 3"]);
    twin(&tool, 1, "--known none.toml").expect(2, &["none.toml", "--add NAME"]);
    for option in ["--junit", "--sarif"] {
        twin(&tool, 1, &format!("{option} known.toml/x")).expect(2, &["known.toml"]);
        twin(&tool, 1, &format!("{option} - --json")).expect(2, &["standard output"]);
    }
    twin(&tool, 1, "--junit x --sarif x").expect(2, &["cannot both go to x"]);
    assert!(!tool.path("findings").exists(), "nothing was run");
    tool.call("triage").expect(2, &["cannot read findings", "interlap fuzz --out"]);
    tool.call("triage .").expect(2, &["holds neither a finding nor a run"]);
    // A run that could not start is an error in reports.
    tool.fuzz_text("bad.cpp", "not C++")
        .with("--junit j.xml --sarif s.sarif")
        .expect(2, &["error"]);
    assert_eq!(counts(&tool.read("j.xml")), [1, 0, 1, 0]);
    let run = &sarif(&tool, "s.sarif")["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn a_run_that_finds_nothing_passes_and_histories_are_test_cases() {
    let tool = Tool::new();
    let answer = tool.fuzz("ms_queue").seed(1).rounds(50).with("--junit -").run();
    assert_eq!((answer.status, counts(&answer.out)), (0, [1, 0, 0, 0]), "{}", answer.all());
    assert!(answer.out.contains("time=\""), "{}", answer.out);
    tool.call("triage").expect(0, &["Nothing was found.", "0 distinct, 0 new, of 1 run."]);
    let line = |op: &str, start: u64| {
        let end = start + 1;
        format!(
            "{{\"thread\": 0, \"op\": \"{op}\", \"args\": [1], \"start\": {start}, \
                 \"end\": {end}, \"status\": \"ok\"}}\n"
        )
    };
    let pop = line("dequeue", 3).replace("\"args\": [1]", "\"results\": [2]");
    tool.write("bad.jsonl", &format!("{}{pop}", line("enqueue", 1)));
    let answer = tool.check("bad.jsonl").with("--model fifo --junit -").run();
    assert_eq!((answer.status, counts(&answer.out)), (1, [1, 1, 0, 0]), "{}", answer.all());
    tool.write("good.jsonl", &line("enqueue", 1));
    tool.check("good.jsonl").with("--model fifo --junit j.xml").expect(0, &["consistent"]);
    assert_eq!(counts(&tool.read("j.xml")), [1, 0, 0, 0]);
    tool.check("gone.jsonl").with("--model fifo --junit j.xml").expect(2, &["gone.jsonl"]);
    assert_eq!(counts(&tool.read("j.xml")), [1, 0, 1, 0]);
}
