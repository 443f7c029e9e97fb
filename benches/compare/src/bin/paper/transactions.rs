//! The table of WiredTiger's transactions: rounds of 50 threads, which `interlap fuzz` makes.
//!
//! They are not simulated, so that each run of this program has other ones.

use std::collections::HashSet;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::checking::cell;
use crate::contender::{Contender, Files, Judges, Outcome, ask};
use crate::table::{count, table};
use crate::tlc::{Times, module};
use crate::{Setting, progress};

const THREADS: usize = 50;
/// Calls of each thread.
const CALLS: [usize; 3] = [20, 100, 1000];
/// Those of a run that come before are calls of one thread.
const ROUND: &str = "16";

const CONTENDERS: [(Contender, &str); 4] = [
    (Contender::Bundled, "interlap, `wiredtiger`"),
    (Contender::Specification, "interlap, TLA+"),
    (Contender::Tlc, "TLC"),
    (Contender::DepthFirst, "TLC, depth first"),
];

const ORDER: &str = include_str!("../../../tla/OrderWiredTiger.tla");
const CONFIGURATION: &str = include_str!("../../../tla/OrderWiredTiger.cfg");
/// The specification, which is in three modules.
const SPECIFICATION: [&str; 3] = ["WiredTiger.tla", "WiredTigerEnds.tla", "WiredTigerChains.tla"];

pub fn written(setting: &Setting) -> String {
    let mut beaten: HashSet<(Contender, bool)> = HashSet::new();
    let mut rows = Vec::new();
    for calls in CALLS {
        let good = round(calls, setting);
        for bad in [false, true] {
            let kind = if bad { "bad" } else { "good" };
            progress(&format!("WiredTiger, {THREADS} threads, {calls} calls of each, {kind}"));
            let files = files(if bad { falsified(&good) } else { good.clone() }, setting);
            let mut row = vec![kind.to_string(), count((THREADS * calls) as u64)];
            for (contender, name) in CONTENDERS {
                let outcome = match beaten.contains(&(contender, bad)) {
                    true => Outcome::NotAsked,
                    false => ask(contender, &files, !bad, setting),
                };
                progress(&format!("  {name}: {}", cell(outcome, setting)));
                if !matches!(outcome, Outcome::Decided { .. }) {
                    // A bad history takes no less than a good one.
                    beaten.extend([(contender, bad), (contender, true)]);
                }
                row.push(cell(outcome, setting));
            }
            files.remove();
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| row[0] == "bad");
    let names = CONTENDERS.map(|(_, name)| name);
    table(&[&["history", "calls"], &names[..]].concat(), 1, &rows)
}

/// A round of the fuzzer: what each line of its JSON Lines is.
fn round(calls: usize, setting: &Setting) -> Vec<Value> {
    let (store, findings) = (setting.scratch.join("rounds"), setting.scratch.join("findings"));
    let mut fuzz = Command::new(&setting.interlap);
    fuzz.args(["fuzz", "wiredtiger_timestamps", "--rounds", "1", "--seed", "1"]);
    fuzz.args(["--threads", &THREADS.to_string(), "--calls", &calls.to_string()]);
    fuzz.arg("--store").arg(&store).arg("--out").arg(&findings);
    // Three is its exit code for a round that was not decided at once.
    said(&mut fuzz, &[0, 3]);
    let mut convert = Command::new(&setting.interlap);
    convert.arg("convert").arg(store.join("wiredtiger_timestamps-1/trace.mpk"));
    let output = said(convert.args(["--round", ROUND, "--to", "jsonl"]), &[0]);
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    for folder in [store, findings].iter().filter(|folder| folder.exists()) {
        std::fs::remove_dir_all(folder).expect("a folder of this program can be removed");
    }
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON Lines"));
    let lines: Vec<Value> = lines.collect();
    assert_eq!(lines.len(), 1 + THREADS * calls, "not the round of all threads");
    lines
}

fn said(command: &mut Command, codes: &[i32]) -> Output {
    let output = command.output().expect("interlap runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|c| codes.contains(&c)), "{command:?}: {errors}");
    output
}

/// The last value that was read is one that nobody writes.
fn falsified(good: &[Value]) -> Vec<Value> {
    let finds = |call: &Value| {
        call["op"].as_str().is_some_and(|op| op.starts_with("search"))
            && call["results"][0].as_i64().is_some_and(|value| value >= 0)
    };
    let found = (1..good.len()).filter(|line| finds(&good[*line]));
    let last = found.max_by_key(|line| good[*line]["start"].as_u64());
    let mut bad = good.to_vec();
    bad[last.expect("a value was read")]["results"] = json!([10]);
    bad
}

fn files(lines: Vec<Value>, setting: &Setting) -> Files {
    let file = setting.specification(SPECIFICATION[0]);
    let judges = Judges {
        model: "wiredtiger",
        specification: format!("{}:with=constant Walks = FALSE", file.display()),
        order: "OrderWiredTiger.tla",
    };
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut modules = vec![
        ("OrderWiredTiger.tla", ORDER.to_string()),
        ("OrderWiredTiger.cfg", CONFIGURATION.to_string()),
        ("Calls.tla", calls(&lines[1..])),
    ];
    modules.extend(SPECIFICATION.map(|name| {
        let text = std::fs::read_to_string(setting.specification(name));
        (name, text.expect("the specification is there"))
    }));
    Files::of(judges, &text, &modules, setting)
}

/// The calls as OrderWiredTiger.tla reads them.
fn calls(all: &[Value]) -> String {
    let number = |call: &Value, name: &str| call[name].as_u64().expect("a number");
    let times = Times::of(all.iter().flat_map(|call| ["start", "end"].map(|at| number(call, at))));
    let mut threads: Vec<Vec<(usize, String)>> = vec![Vec::new(); THREADS];
    for call in all {
        assert_eq!(call["status"], "ok", "a call without an answer");
        let [start, end] = ["start", "end"].map(|at| times.place(number(call, at)));
        let name = call["op"].as_str().and_then(|op| op.split('(').next()).expect("a name");
        let args: Vec<String> =
            call["args"].as_array().into_iter().flatten().map(Value::to_string).collect();
        let (args, answer) = (args.join(", "), value(&call["results"][0]));
        let text = format!("<<{start}, {end}, \"{name}\", <<{args}>>, {answer}>>");
        threads[number(call, "thread") as usize].push((start, text));
    }
    let in_order = |mut calls: Vec<(usize, String)>| {
        calls.sort();
        calls.into_iter().map(|(_, text)| text).collect()
    };
    let end = format!("<<{0}, {0}, \"end\", <<>>, 0>>", times.end());
    module(threads.into_iter().map(in_order).collect(), &end)
}

/// An answer: an integer, or a record of them.
fn value(json: &Value) -> String {
    let Some(fields) = json.as_object() else { return json.to_string() };
    let fields = fields.iter().map(|(name, is)| format!("{name} |-> {is}"));
    format!("[{}]", fields.collect::<Vec<_>>().join(", "))
}
