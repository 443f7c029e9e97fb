//! A history as TLC is given it: a module of numbers, beside a specification that looks for an
//! order.
//!
//! As OmniLink does it: a place in each thread's calls, and a step is a call of those that may come
//! next. TLC reads no numbers of 64 bits, so times are replaced by their places among all times.

use std::fmt::Write;
use std::path::Path;

use interlap::core::history::History;
use interlap::core::operation::{Op, Status};

const ORDER: &str = include_str!("../../../tla/Order.tla");
const CONFIGURATION: &str = include_str!("../../../tla/Order.cfg");
const SEQUENCES: &str = include_str!("../../../tla/SequencesExt.tla");

/// What TLC prints where it has found an order (Order.tla).
pub const FOUND: &str = "an order was found";
/// What TLC prints when it has seen all that there is.
pub const COMPLETED: &str = "Model checking completed. No error has been found.";

/// Calls in one definition. TLC evaluates a sequence of any length, but its parser is slow with
/// those of very many.
const PART: usize = 2000;

/// All that TLC needs, by the names of the files.
pub fn modules(history: &History, range_set: &Path) -> [(&'static str, String); 5] {
    let range_set = std::fs::read_to_string(range_set).expect("the specification is there");
    [
        ("Order.tla", ORDER.into()),
        ("Order.cfg", CONFIGURATION.into()),
        ("SequencesExt.tla", SEQUENCES.into()),
        ("RangeSet.tla", range_set),
        ("Calls.tla", calls(history)),
    ]
}

/// The places of the times of a history among them all.
pub struct Times(Vec<u64>);

impl Times {
    pub fn of(times: impl Iterator<Item = u64>) -> Times {
        let mut times: Vec<u64> = times.collect();
        times.sort_unstable();
        times.dedup();
        Times(times)
    }

    pub fn place(&self, time: u64) -> usize {
        self.0.binary_search(&time).expect("all times are listed")
    }

    /// The place after all.
    pub fn end(&self) -> usize {
        self.0.len()
    }
}

fn calls(history: &History) -> String {
    let entries = || history.ids().map(|id| history.entry(id));
    let times = Times::of(entries().flat_map(|entry| [entry.start, entry.end]));
    let mut threads: Vec<Vec<String>> = vec![Vec::new(); history.threads.len()];
    for id in history.ids() {
        let entry = history.entry(id);
        let what = number(entry.op, entry.status, entry.args, entry.results);
        let call = format!("<<{}, {}, {what}>>", times.place(entry.start), times.place(entry.end));
        threads[id.thread as usize].push(call);
    }
    module(threads, &format!("<<{0}, {0}, 4>>", times.end()))
}

/// The module of the calls of each thread; `end` comes behind the last one of each.
pub fn module(mut threads: Vec<Vec<String>>, end: &str) -> String {
    let mut text = String::from("---- MODULE Calls ----\nEXTENDS Integers, Sequences\n");
    for (thread, calls) in threads.iter_mut().enumerate() {
        calls.push(end.into());
        let mut names = Vec::new();
        for (part, calls) in calls.chunks(PART).enumerate() {
            names.push(format!("Part_{thread}_{part}"));
            writeln!(text, "{} == <<\n{}>>", names[part], calls.join(",\n")).expect("memory");
        }
        writeln!(text, "Thread_{thread} == {}", names.join(" \\o ")).expect("memory");
    }
    let names: Vec<String> = (0..threads.len()).map(|thread| format!("Thread_{thread}")).collect();
    write!(text, "Calls == <<{}>>\n====\n", names.join(", ")).expect("memory");
    text
}

/// A call as Order.tla reads it.
fn number(op: Op, status: Status, args: &[i64], results: &[i64]) -> i64 {
    let operation = match op {
        Op::SetInsert => 0,
        Op::SetRemove => 1,
        Op::SetContains => 2,
        Op::SetRangeCount => 3,
        _ => panic!("{op:?} is not in these histories"),
    };
    let (key, high) = (args[0], args.get(1).copied().unwrap_or(0));
    let answer = results.first().copied().unwrap_or(i64::from(status == Status::Ok));
    assert!((0..16).contains(&key) && (0..16).contains(&high) && (0..1 << 16).contains(&answer));
    operation + 8 * (key + 16 * (high + 16 * answer))
}
