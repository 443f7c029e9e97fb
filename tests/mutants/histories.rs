//! Mutants of recorded histories in every format, read, checked, drawn and written again.

use interlap::check::{Limits, NotShown, Verdict, check, partials};
use interlap::core::history::{OperationId, Unit};
use interlap::exchange::{self, Format, Imported, Options};
use interlap::view::explanation::{self, sentences, undecided};
use interlap::view::page::{self, Conclusion, Subject};
use interlap::view::timeline;

use super::format::Sample;
use super::{how_many, survive};
use crate::exchange::omnilink_log;
use crate::page::BAD;

pub const LIMITS: Limits = Limits {
    configurations_max: 1 << 10,
    steps_max: 10_000,
    memory_max: 64 << 20,
    jobs: 1,
    cancelled: None,
    deadline: None,
};

/// What `check` and `convert` do with a history.
fn follow(imported: &Imported) {
    let Imported { history, model, interner, .. } = imported;
    for format in [Format::Jsonl, Format::Events, Format::Edn, Format::JepsenLog, Format::S2] {
        // Some cannot express some histories.
        let _ = exchange::write(history, "any", interner, format);
    }
    let Some(model) = model else { return };
    let unit = Unit { factor: 1.0, name: "units", is_absolute: true };
    let (verdict, mut lettered) = (check(history, model, &LIMITS), Vec::new());
    let mut known = Err(NotShown::NoFailure);
    if let Verdict::Violation(witness) = &verdict {
        lettered.clone_from(&witness.operations);
        known = partials(history, model, &witness.operations, &LIMITS);
        let all: Vec<OperationId> = history.ids().collect();
        timeline::draw(history, &all, None, unit, interner);
    }
    if let Ok(known) = &known {
        explanation::partials::text(known, history, interner);
        explanation::partials::json(known, history, interner);
    }
    let conclusion = match &verdict {
        Verdict::Consistent => Conclusion::Consistent,
        Verdict::Inconclusive(why) => Conclusion::Inconclusive(undecided::reason(why)),
        Verdict::Violation(witness) => Conclusion::Violation {
            rule: witness.rule,
            explanation: sentences(&witness.explanation, history, interner),
            operations: &witness.operations,
            partials: known.as_ref().map_err(Clone::clone),
        },
    };
    page::render(&Subject {
        title: "mutant".to_string(),
        about: String::new(),
        history,
        model: Some(*model),
        conclusion,
        lettered,
        unit,
        facts: Vec::new(),
        strings: interner,
        interleaving: None,
        limits: LIMITS,
    });
}

fn survive_as(name: &str, format: Format, samples: &[Sample], all: usize) {
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("tracing-SetBench-1.log");
    let options = Options { model: None, initial: None };
    survive(name, samples, how_many(all), |bytes| {
        std::fs::write(&path, bytes).expect("room");
        let _ = exchange::detect(&path);
        let imported = exchange::read(&path, format, &options);
        follow(&imported.map_err(anyhow::Error::msg)?);
        Ok(())
    });
}

/// A history of a model's operations as JSON Lines.
fn of_model(model: &str, calls: &str) -> String {
    format!("{{\"interlap\": 1, \"model\": \"{model}\"}}\n{calls}")
}

const SET: &str = r#"{"thread": 30, "op": "insert", "args": [5], "start": 100, "end": 109}
{"thread": 31, "op": "remove", "args": [5], "start": 103, "end": 107, "status": "failed"}
{"thread": 32, "op": "contains", "args": [5], "start": 108, "end": 112}
{"thread": 32, "op": "remove", "args": [5], "start": 123, "end": 129}
"#;

const KV: &str = r#"{"thread": 30, "op": "append", "args": [5, "xy"], "start": 100, "end": 109}
{"thread": 31, "op": "put", "args": [5, "z"], "start": 103, "end": 107}
{"thread": 30, "op": "get", "args": [5], "start": 111, "end": 117, "results": ["zxy"]}
{"thread": 32, "op": "append", "args": [6, "x"], "start": 8, "end": null, "status": "pending"}
"#;

const COUNTER: &str = r#"
{"thread": 30, "op": "add", "args": [5], "start": 8, "end": 99, "results": [0]}
{"thread": 31, "op": "add", "args": [2], "start": 13, "end": 17, "results": [0]}
"#;

#[test]
fn json_lines() {
    let models = [("set", SET), ("counter", COUNTER), ("kv", KV)];
    let texts = models.map(|(model, calls)| of_model(model, calls));
    let samples: Vec<Sample> =
        texts.iter().map(|text| Sample::lines(text)).chain([Sample::lines(BAD)]).collect();
    survive_as("JSON Lines", Format::Jsonl, &samples, 22_000);
}

#[test]
fn events() {
    let samples = [("set", SET), ("counter", COUNTER)].map(|(model, calls)| {
        let history = crate::page::read(&of_model(model, calls));
        let text = exchange::jsonl::write_events(&history, model, &Default::default());
        // Numbers of calls that nothing else has.
        Sample::lines(&text.replace("\"op_id\":", "\"op_id\":50"))
    });
    survive_as("events", Format::Events, &samples, 11_000);
}

const EDN: &str = "\
[{:process 0, :type :invoke, :f :write, :value 3}
 {:process 1, :type :invoke, :f :cas, :value [3 4]}
 {:process 0, :type :ok, :f :write, :value 3}
 {:process 1, :type :fail, :f :cas, :value [3 4]}
 {:process 2, :type :invoke, :f :read, :value nil}
 {:process 2, :type :ok, :f :read, :value 4}
 {:process 3, :type :invoke, :f :write, :value \"x\"}
 {:process 3, :type :info, :f :write, :value \"x\"}]";

const TRANSACTIONS: &str = "\
{:process 0, :type :invoke, :f :txn, :value [[:w 1 1] [:r 2 nil]]}
{:process 1, :type :invoke, :f :txn, :value [[:w 2 1] [:r 1 nil]]}
{:process 0, :type :ok, :f :txn, :value [[:w 1 1] [:r 2 1]]}
{:process 1, :type :ok, :f :txn, :value [[:w 2 1] [:r 1 nil]]}
{:process 0, :type :invoke, :f :txn, :value [[:w 3 1] [:r 3 nil]]}
{:process 0, :type :info, :f :txn, :value [[:w 3 1] [:r 3 nil]]}
";

#[test]
fn edn() {
    let samples = [EDN, TRANSACTIONS].map(Sample::words);
    survive_as("EDN", Format::Edn, &samples, 22_000);
}

#[test]
fn lines_of_jepsens_log() {
    let text = "\
INFO  jepsen.util - 0\t:invoke\t:write\t3
INFO  jepsen.util - 1\t:invoke\t:cas\t[3 4]
INFO  jepsen.util - 0\t:ok\t:write\t3
INFO  jepsen.util - 1\t:info\t:cas\t:timed-out
INFO  jepsen.util - 2\t:invoke\t:read\tnil
INFO  jepsen.util - 2\t:ok\t:read\t7
";
    survive_as("Jepsen's log", Format::JepsenLog, &[Sample::words(text)], 11_000);
}

#[test]
fn logs_of_omnilink() {
    survive_as("OmniLink", Format::Omnilink, &[Sample::packed(&omnilink_log())], 11_000);
}

#[test]
fn logs_of_s2() {
    let append = concat!(
        r#"{"num_records":2,"record_hashes":[111,112],"set_fencing_token":null,"#,
        r#""fencing_token":null,"match_seq_num":null}"#
    );
    let events = [
        (31, 51, r#"{"Start":{"Append":APPEND}}"#),
        (32, 52, r#"{"Start":"Read"}"#),
        (31, 51, r#"{"Finish":{"AppendSuccess":{"tail":2}}}"#),
        (32, 52, r#"{"Finish":{"ReadSuccess":{"tail":2,"stream_hash":77}}}"#),
        (31, 53, r#"{"Start":"CheckTail"}"#),
        (31, 53, r#"{"Finish":{"CheckTailSuccess":{"tail":3}}}"#),
    ];
    let line = |(client, call, event): (u64, u64, &str)| {
        format!("{{\"event\":{event},\"client_id\":{client},\"op_id\":{call}}}\n")
    };
    let text: String = events.map(line).concat().replace("APPEND", append);
    survive_as("S2", Format::S2, &[Sample::lines(&text)], 11_000);
}
