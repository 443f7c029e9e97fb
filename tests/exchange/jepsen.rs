//! Histories of Jepsen and Knossos, by example.

use interlap::core::interner::Value;
use interlap::core::operation::Status;
use interlap::exchange::{Format, Imported, Options};

use super::{OPTIONS, calls_and_answers, is_good, nil, read_text, through};

fn edn(text: &str) -> Imported {
    read_text(text, Format::Edn, &OPTIONS).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn error(text: &str) -> String {
    read_text(text, Format::Edn, &OPTIONS).expect_err(text)
}

fn log(text: &str) -> Result<Imported, String> {
    read_text(text, Format::JepsenLog, &OPTIONS)
}

/// Invocations and completions of a register, as `0 invoke write 3`.
fn events(events: &[&str]) -> Imported {
    let event = |text: &&str| {
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        let [process, kind, f, value] = words[..] else { panic!("{text}") };
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
    };
    edn(&events.iter().map(event).collect::<String>())
}

/// The same as lines of the log.
fn lines(events: &[&str]) -> String {
    let line = |text: &&str| {
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        let [process, kind, f, value] = words[..] else { panic!("{text}") };
        format!("INFO  jepsen.util - {process}\t:{kind}\t:{f}\t{value}\n")
    };
    events.iter().map(line).collect()
}

#[test]
fn a_register_begins_with_nil() {
    let invoke = "INFO  jepsen.util - 0 :invoke :read nil\n";
    let is_accepted = |value: &str, initial: Option<Value>| {
        let text = format!("{invoke}INFO  jepsen.util - 0 :ok :read {value}\n");
        let options = Options { initial, ..OPTIONS };
        is_good(&read_text(&text, Format::JepsenLog, &options).expect("good"))
    };
    assert!(
        is_accepted("nil", None)
            && is_accepted("nil", nil())
            && is_accepted("0", Some(Value::Integer(0)))
    );
    assert!(!is_accepted("0", None) && !is_accepted("nil", Some(Value::Integer(0))));
}

#[test]
fn a_read_of_nil_is_a_claim_in_the_log_alone() {
    let text = ["0 invoke write 1", "0 ok write 1", "0 invoke read nil", "0 ok read nil"];
    assert!(is_good(&events(&text)), "Knossos: any value");
    assert!(!is_good(&log(&lines(&text)).expect("good")), "Porcupine: no value");
    assert!(!is_good(&events(&["0 invoke read nil", "0 ok read 0"])));
}

#[test]
fn values_need_not_be_numbers() {
    let good = events(&[
        "0 invoke write \"a b\"",
        "0 ok write \"a b\"",
        "1 invoke read nil",
        "1 ok read \"a b\"",
    ]);
    assert!(is_good(&good));
    let bad =
        events(&["0 invoke write :a", "0 ok write :a", "1 invoke read nil", "1 ok read \":a\""]);
    assert!(!is_good(&bad), "a keyword is no string");
}

#[test]
fn an_unknown_outcome_stays_open_for_ever() {
    let open = ["0 invoke write 1", "0 ok write 1", "1 invoke cas [1 2]", "1 info cas :timed-out"];
    let reads = |values: [&str; 2]| {
        let mut all: Vec<String> = open.iter().map(|text| text.to_string()).collect();
        for value in values {
            all.extend(["0 invoke read nil".to_string(), format!("0 ok read {value}")]);
        }
        events(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert!(is_good(&reads(["1", "1"])));
    assert!(is_good(&reads(["1", "2"])));
    assert!(is_good(&reads(["2", "2"])));
    assert!(!is_good(&reads(["2", "1"])));
    let pending = events(&["0 invoke write 1", "1 invoke read nil", "1 ok read 1"]);
    assert!(is_good(&pending), "what never completes may have happened");
}

#[test]
fn a_failure_had_no_effect_and_only_a_cas_of_the_log_claims_why() {
    let failed =
        events(&["0 invoke write 1", "0 fail write 1", "1 invoke read nil", "1 ok read 1"]);
    assert!(!is_good(&failed));
    // Knossos: it had no effect, for any reason.
    let cas = ["0 invoke write 1", "0 ok write 1", "0 invoke cas [1 2]", "0 fail cas [1 2]"];
    assert!(is_good(&events(&cas)));
    // Porcupine: the register held something else.
    let text = lines(&cas);
    assert!(!is_good(&log(&text).expect("good")));
    let timed_out = text.replace(":fail\t:cas\t[1 2]", ":fail\t:cas\t:timed-out");
    assert!(is_good(&log(&timed_out).expect("good")));
}

#[test]
fn a_lock_has_one_holder_at_a_time() {
    let taken = ["0 invoke acquire nil", "0 ok acquire nil", "1 invoke acquire nil"];
    let then = |more: &[&str]| events(&[&taken[..], more].concat());
    assert!(is_good(&then(&["1 fail acquire nil"])));
    assert!(!is_good(&then(&["1 ok acquire nil"])));
    assert!(is_good(&then(&["0 invoke release nil", "1 ok acquire nil"])));
    // The release has an unknown outcome.
    let unknown = ["0 invoke release nil", "0 info release nil", "1 ok acquire nil"];
    assert!(is_good(&then(&unknown)));
    let not_held = ["0 invoke release nil", "0 ok release nil"];
    assert!(!is_good(&events(&not_held)));
}

#[test]
fn queues_are_first_in_first_out() {
    let added = ["0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke enqueue 2", "0 ok enqueue 2"];
    let then = |more: &[&str]| events(&[&added[..], more].concat());
    let (one, two) = (["1 invoke dequeue nil", "1 ok dequeue 1"], ["2 invoke dequeue nil"]);
    assert!(is_good(&then(&[&one[..], &two, &["2 ok dequeue 2"]].concat())));
    assert!(!is_good(&then(&["1 invoke dequeue nil", "1 ok dequeue 2"])));
    assert!(!is_good(&then(&["1 invoke dequeue nil", "1 ok dequeue nil"])), "it is not empty");
    assert!(is_good(&then(&["1 invoke dequeue nil", "1 fail dequeue nil"])));
    // The dequeue that never returned may have taken the first value.
    let lost = ["1 invoke dequeue nil", "1 info dequeue :timed-out"];
    let good = then(&[&lost[..], &two, &["2 ok dequeue 2"]].concat());
    assert!(is_good(&good));
    assert_eq!(calls_and_answers(&through(&good, Format::Edn)), calls_and_answers(&good));
}

#[test]
fn a_process_that_is_used_again_after_an_unknown_outcome_is_another_thread() {
    let imported =
        events(&["0 invoke write 1", "0 info write 1", "0 invoke read nil", "0 ok read 1"]);
    let open = imported.history.threads.iter().filter(|thread| thread.is_retired());
    assert_eq!(open.count(), 1);
    assert!(is_good(&imported));
    let again = through(&imported, Format::Edn);
    assert!(is_good(&again));
    assert_eq!(calls_and_answers(&through(&again, Format::Edn)), calls_and_answers(&again));
    let statuses: Vec<Status> =
        again.history.ids().map(|id| again.history.operation(id).status).collect();
    assert!(statuses.contains(&Status::Unknown));
}

#[test]
fn edn_may_have_lists_tags_comments_and_other_processes() {
    let imported =
        edn("; of a test\n[#jepsen.history.Op{:index 0, :time 3, :process 0, :type :invoke, \
        :f :write, :value 3} {:process :nemesis, :type :info, :f :start}\n #_{:left :out}\n\
        {:process 0, :type :ok, :f :write, :value 3}]");
    assert_eq!(imported.history.len(), 2, "the first value, and the write");
}

#[test]
fn our_own_registers_round_trip_through_edn() {
    let text = r#"{"interlap": 1, "model": "register"}
{"thread": 0, "op": "read", "results": [0], "start": 1, "end": 4}
{"thread": 1, "op": "compare_exchange", "args": [0, 5], "start": 2, "end": 3}
{"thread": 1, "op": "read", "results": [5], "start": 4, "end": 6}
"#;
    let imported = read_text(text, Format::Jsonl, &OPTIONS).expect("good");
    assert!(is_good(&imported));
    assert!(is_good(&through(&imported, Format::Edn)), "it begins with 0 there, too");
    let bad = read_text(&text.replace("[5], ", "[0], "), Format::Jsonl, &OPTIONS).expect("good");
    assert!(!is_good(&bad) && !is_good(&through(&bad, Format::Edn)));
}

#[test]
fn errors_name_their_line_and_what_was_expected() {
    let invoke = "{:process 0, :type :invoke, :f :write, :value 3}\n";
    let cases = [
        ("{:type :ok}", "line 1: no :process; expected {:process 0"),
        ("{:process -1}", "line 1: :process -1; expected a number from 0"),
        (
            "\n{:process 0, :type :ok, :f :read, :value 1}",
            "line 2: client 0 ends an operation that",
        ),
        ("{:process 0, :type :invoke, :f :cas, :value 3}", "line 1: cas of 3; expected [old new]"),
        ("{:process 0, :type :invoke, :f :get, :value 3}", "line 1: :get without :key; expected"),
        ("{:process 0, :type :invoke, :f :write, :value [1]}", "the value [1]; expected a number"),
        ("{:process 0, :type :invoke, :f :read", "line 1: the text ends; expected '}'"),
        ("{:process 0, :type 3, :f :read}", "line 1: :type 3; expected a keyword"),
    ];
    for (text, expected) in cases {
        let error = error(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    let twice = error(&invoke.repeat(2));
    assert!(twice.starts_with("line 2") && twice.contains("of line 1 is under way"), "{twice}");
    let other = error(&(invoke.to_string() + "{:process 0, :type :ok, :f :write, :value 4}"));
    assert!(other.contains("line 2") && other.contains("expected that of line 1"), "{other}");
    let kind = error(&(invoke.to_string() + "{:process 0, :type :done, :f :write, :value 3}"));
    assert!(kind.contains("expected :invoke, :ok, :fail or :info"), "{kind}");
    let log = log("INFO  jepsen.util - x :invoke :read nil").expect_err("no process");
    assert!(log.contains("line 1: 'x' is not a process; expected INFO"), "{log}");
}
