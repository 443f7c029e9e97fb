//! Specifications in TLA+ against TLC: expressions and actions with its answers, which
//! tests/data/tla/generate.py asked for.

use std::path::Path;

use interlap::check::{Limits, Verdict, check};
use interlap::core::history::{History, OperationId};
use interlap::core::interner::Interner;
use interlap::core::journal::Journal;
use interlap::core::operation::Status;
use interlap::core::recorder::Answered;
use interlap::exchange::calls;
use interlap::model::{Spec, Specified};
use interlap::tla::covering::reachable;
use interlap::tla::{Constants, Specification, Value, evaluate};
use serde_json::{Value as Json, json};

use super::agreement::SMALL;
use super::random::{Random, Shape, history};
use crate::run::tool::{data, read};

const EXTENDS: &str = "EXTENDS Integers, Sequences, FiniteSets, TLC, Bags";

/// What is known to differ from TLC: integers have 64 bits, and not 32; the others are refused, or
/// not refused, without need.
const OTHERWISE: [&str; 8] = [
    "Nat",
    "Int",
    "STRING",
    "Seq({1})",
    "[x \\in Nat |-> x + 1][41]",
    "1 \\in {1, 2} \\cup {\"a\"}",
    "<<>> = \"\"",
    "[<<>> EXCEPT ![\"a\"] = 1]",
];

/// Operators may call themselves often, as in the process that answers for a specification.
pub fn deeply(check: fn()) {
    let thread = std::thread::Builder::new().stack_size(1 << 28).spawn(check).expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn expressions_have_the_values_that_tlc_gives_them() {
    deeply(check_expressions);
}

fn check_expressions() {
    let text = read(data("tla/expressions.txt"));
    let (_, rest) = text.split_once("---- prelude").expect("it is there");
    let (prelude, probes) = rest.split_once("\n----").expect("it ends");
    let (probes, _) = probes.split_once("\\* group: overflow").expect("the last group");
    // What stands before it is defined there.
    let lines = "\n".repeat(probes.len());
    let module = format!("---- MODULE T ----\n{EXTENDS}\n{prelude}\n====\n");
    let value = |text: &str| evaluate(&module, &format!("{lines}{text}"));
    let mut count = 0;
    for line in probes.lines().filter(|line| !line.starts_with("\\*")) {
        let Some((expression, wanted)) = line.split_once("==>") else { continue };
        let (expression, wanted) = (expression.trim(), wanted.trim());
        if OTHERWISE.contains(&expression) {
            continue;
        }
        count += 1;
        match (value(expression), wanted) {
            (Err(_), "!") => {}
            (Ok(value_of), "!") => panic!("{expression} is {value_of}, and TLC refuses it"),
            (Ok(value_of), wanted) => {
                let wanted = value(wanted).expect(wanted);
                assert_eq!(value_of, wanted, "{expression} is {value_of}");
            }
            (Err(problem), wanted) => panic!("{expression} is {wanted}: {problem}"),
        }
    }
    assert!(count > 600, "{count}");
}

#[test]
fn community_modules_have_the_values_that_are_recorded() {
    let text = read(data("tla/community.txt"));
    let (most, undirected) = text.split_once("---- undirected\n").expect("it is there");
    let all = "SequencesExt, FiniteSetsExt, Functions, Folds, BagsExt, Combinatorics, Graphs, \
               TLCExt, Apalache, DyadicRationals, Bitwise";
    let mut count = 0;
    for (extends, probes) in [(all, most), ("FiniteSets, UndirectedGraphs", undirected)] {
        let module = format!("---- MODULE T ----\nEXTENDS {extends}\n====\n");
        for line in probes.lines() {
            let Some((expression, wanted)) = line.split_once("  ==>  ") else { continue };
            let of =
                |text: &str| evaluate(&module, text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(of(expression), of(wanted), "{expression}");
            count += 1;
        }
    }
    assert!(count > 140, "{count}");
}

/// A bundled module may define an operator that says the next state. What only reads and writes
/// files may be named, and is refused where it is called.
#[test]
fn bundled_modules_may_be_named_without_a_file() {
    let text = "---- MODULE T ----\nEXTENDS Apalache, Json, TLAPS\nVARIABLE x\nInit == x := 1\n\
                Double == x' := 2 * x\nWrite == x' = x /\\ JsonSerialize(\"file\", x)\n====\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("T.tla");
    std::fs::write(&path, text).expect("written");
    let of = Specification::load(&path, &Constants::new()).expect("all modules are known");
    let state = of.begin().expect("a state").remove(0);
    let double = of.action("Double").expect("there").as_ref().expect("an action");
    let steps = of.steps(double, &state, &[]).expect("it can");
    assert_eq!(steps.iter().map(|step| of.shown(&step.next)).collect::<Vec<_>>(), ["x = 2"]);
    let refused = of.action("Write").expect("there").as_ref().expect_err("refused").to_string();
    assert!(refused.contains("JsonSerialize is not defined, or not supported"), "{refused}");
}

#[test]
fn operators_of_community_modules_refuse_what_they_are_not_about() {
    let value = |text: &str| {
        let extends = "EXTENDS Integers, TLC, SequencesExt, Functions, Bitwise";
        evaluate(&format!("---- MODULE T ----\n{extends}\n====\n"), text)
    };
    for text in ["(-1) & 2", "shiftR(1, -1)", "FoldFunctionOnSet(+, 0, <<1>>, {2})"] {
        assert!(value(text).is_err(), "{text}");
    }
}

/// What is refused says where, what, and what to write instead.
#[test]
fn what_is_not_supported_is_refused_by_name() {
    let refused = |definitions: &str, text: &str, wanted: &str| {
        let module = format!("---- MODULE T ----\n{EXTENDS}, Randomization\n{definitions}\n====\n");
        let problem = evaluate(&module, text).expect_err(text).to_string();
        assert!(problem.contains(wanted), "{text}: {problem}");
    };
    for chance in ["RandomElement({1})", "RandomSubset(1, {1})"] {
        refused("", chance, "depends on chance: write \\E x \\in S");
        refused("", chance, ".tla:1:1: ");
    }
    let all = "All == /\\ TRUE\n       /\\ \\A x \\in {1} : lab(x):: x > 0";
    for (text, step) in [("All!3", "3"), ("All!2!(1, 2)", "(...)"), ("All!label(1)", "label")] {
        refused(
            all,
            text,
            &format!(".tla:1:1: `!{step}` names no part here, of the definition of All"),
        );
    }
    refused("", "Nothing!1", "Nothing is no instance of a module");
    let changes = "RECURSIVE Iter(_, _)\nIter(F(_), n) == Iter(LAMBDA q : F(q), n)";
    refused(
        changes,
        "Iter(LAMBDA x : x, 3)",
        ":4:18: Iter gives itself another operator each time",
    );
}

/// Integers have 64 bits.
#[test]
fn large_numbers_are_exact_or_an_error() {
    let value = |text: &str| evaluate(&format!("---- MODULE T ----\n{EXTENDS}\n====\n"), text);
    assert_eq!(value("2147483647 + 1"), Ok(Value::Int(1 << 31)));
    for text in ["9223372036854775807 + 1", "3037000500 * 3037000500", "2^63", "-(-2^62 * 2)"] {
        let problem = value(text).expect_err(text).to_string();
        assert!(problem.contains("64 bits"), "{text}: {problem}");
    }
}

/// The parts of a probe that begin with a word.
fn parts<'a>(probe: &'a str, word: &str) -> Vec<&'a str> {
    let of = |line: &'a str| line.strip_prefix(word)?.strip_prefix(' ');
    probe.lines().filter_map(of).collect()
}

#[test]
fn actions_have_the_successors_that_tlc_finds() {
    deeply(check_actions);
}

fn check_actions() {
    let (text, mut count) = (read(data("tla/actions.txt")), 0);
    for probe in text.split("\n\n") {
        let [variables] = parts(probe, "variables")[..] else { continue };
        let (action, definitions) =
            (parts(probe, "action").join("\n"), parts(probe, "define").join("\n"));
        let specification = |state: &str| {
            Specification::from_text(&format!(
                "---- MODULE T ----\n{EXTENDS}\nVARIABLES {variables}\n{definitions}\n\
                 Init == {state}\nTheAction == {action}\n====\n"
            ))
        };
        let found = specification(parts(probe, "state")[0]).map(|of| {
            let state = of.begin().expect("a state").remove(0);
            Some(match of.action("TheAction") {
                // It says nothing of the next state: no action here.
                None => return None,
                Some(Err(problem)) => Err(problem.clone()),
                Some(Ok(action)) => of.steps(action, &state, &[]),
            })
        });
        let found = match found.transpose() {
            None => continue,
            Some(found) => found.and_then(|steps| steps),
        };
        let found = found.map(|steps| {
            let mut states: Vec<Vec<Value>> = steps.iter().map(|step| step.next.to_vec()).collect();
            states.sort();
            states
        });
        count += 1;
        match (found, &parts(probe, "next")[..]) {
            (Err(_), ["!"]) => {}
            (Ok(_), ["!"]) => panic!("TLC refuses it:\n{probe}"),
            (Ok(found), wanted) => {
                let state = |text: &&str| specification(text)?.begin();
                let wanted = wanted.iter().map(state).collect::<Result<Vec<_>, _>>();
                let mut wanted: Vec<Vec<Value>> = wanted
                    .expect("states")
                    .into_iter()
                    .flatten()
                    .map(|state| state.to_vec())
                    .collect();
                wanted.sort();
                assert_eq!(found, wanted, "{probe}");
            }
            (Err(problem), _) => panic!("{problem}:\n{probe}"),
        }
    }
    assert!(count > 250, "{count}");
}

/// An operation as interlap's files have it.
fn as_written(history: &History, id: OperationId) -> Answered<Json, Json> {
    calls::of_history(history, id, &Interner::default(), true).expect("numbers")
}

/// An operation of a queue as a log names its parameters.
fn as_logged(history: &History, id: OperationId) -> Answered<Json, Json> {
    let operation = history.operation(id);
    let (name, all) = match operation.op {
        op if op.adds() => ("Enqueue", history.args(id)),
        _ => ("Dequeue", history.results(id)),
    };
    let call = match operation.status {
        Status::Empty => json!({ "Empty": { "thread": id.thread } }),
        _ => json!({ name: { "thread": id.thread, "all": all } }),
    };
    Answered { call, answer: Some(Json::Null) }
}

/// A specification and a bundled model say the same of random histories.
fn compare(
    (file, model): (&str, &str),
    shape: Shape,
    call: fn(&History, OperationId) -> Answered<Json, Json>,
) {
    let spec: Spec = model.parse().expect(model);
    let specified = Specified::load(&data("tla").join(file), "").expect(file);
    let (limits, mut random) = (Limits::default(), Random::new(37));
    let (mut consistent, mut wrong) = (0, 0);
    for _ in 0..crate::how_many(2_000) {
        let shape = Shape { kind: spec.kind, ..shape };
        let history = history(shape, &mut random);
        let mut journal = Journal::default();
        journal.drained = history.drained;
        for id in history.ids() {
            let made = call(&history, id);
            let operation = history.operation(id);
            let end = made.answer.is_some().then_some(operation.end);
            let answer = made.answer.map(Into::into);
            let made = Answered { call: made.call.into(), answer };
            journal.push(id.thread, made, operation.start, end).expect("as it was");
        }
        let ours = check(&history, &spec, &limits);
        // What is left inside at the end is nothing to a specification.
        if matches!(&ours, Verdict::Violation(witness) if witness.rule == "lost") {
            continue;
        }
        let theirs = check(&journal, &specified, &limits);
        let is_right = ours == Verdict::Consistent;
        assert!(is_right || matches!(ours, Verdict::Violation(_)), "{ours:?}");
        assert_eq!(theirs == Verdict::Consistent, is_right, "{theirs:?} of {history:?}");
        consistent += usize::from(is_right);
        wrong += usize::from(!is_right);
    }
    assert!(consistent > 20 && wrong > 20, "{consistent}, {wrong}");
}

#[test]
fn a_specification_says_what_the_bundled_model_does() {
    let shape = Shape { hides: 0, ..SMALL };
    compare(("Queue.tla", "fifo"), shape, as_written);
    compare(("Set.tla", "set"), shape, as_written);
    // Each in any number of steps.
    let bulk = Shape { bulk: 60, pending: 0, ..shape };
    compare(("BulkQueue.tla", "fifo"), bulk, as_logged);
}

/// All states that a specification comes to by its action Next.
fn states(path: &Path) -> usize {
    let specification = Specification::load(path, &Constants::new());
    let specification = specification.unwrap_or_else(|problem| panic!("{problem}"));
    reachable(&specification, usize::MAX).expect("it says what its steps are").len()
}

#[test]
fn specifications_have_as_many_states_as_tlc_finds() {
    let (text, folder) = (read(data("tla/specifications.txt")), tempfile::tempdir().expect("one"));
    let mut count = 0;
    for part in text.split("\nstates ").skip(1) {
        let (wanted, files) = part.split_once("\nfile ").expect("it has files");
        let files = files.split("\n\n\\*").next().expect("a first part");
        let mut first = None;
        for file in files.split("\nfile ") {
            let (name, text) = file.split_once('\n').expect("a name and a text");
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            first.get_or_insert(path);
        }
        let path = first.expect("it has one");
        let wanted: usize = wanted.parse().expect("a number");
        assert_eq!(states(&path), wanted, "{}", path.display());
        count += 1;
    }
    assert!(count > 15, "{count}");
}
