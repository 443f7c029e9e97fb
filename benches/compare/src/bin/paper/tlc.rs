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

/// Writes all that TLC needs into a folder.
pub fn write(history: &History, range_set: &Path, folder: &Path) {
    let range_set = std::fs::read_to_string(range_set).expect("the specification is there");
    let modules = [
        ("Order.tla", ORDER),
        ("Order.cfg", CONFIGURATION),
        ("SequencesExt.tla", SEQUENCES),
        ("RangeSet.tla", &range_set),
        ("Calls.tla", &calls(history)),
    ];
    std::fs::create_dir_all(folder).expect("a folder can be made");
    for (name, text) in modules {
        std::fs::write(folder.join(name), text).expect("a file can be written");
    }
}

fn calls(history: &History) -> String {
    let entries = || history.ids().map(|id| history.entry(id));
    let mut times: Vec<u64> = entries().flat_map(|entry| [entry.start, entry.end]).collect();
    times.sort_unstable();
    times.dedup();
    let place = |time: u64| times.binary_search(&time).expect("all times are listed");
    let mut threads: Vec<Vec<String>> = vec![Vec::new(); history.threads.len()];
    for id in history.ids() {
        let entry = history.entry(id);
        let what = number(entry.op, entry.status, entry.args, entry.results);
        let call = format!("<<{}, {}, {what}>>", place(entry.start), place(entry.end));
        threads[id.thread as usize].push(call);
    }
    let mut text = String::from("---- MODULE Calls ----\nEXTENDS Sequences\n");
    for (thread, calls) in threads.iter_mut().enumerate() {
        calls.push(format!("<<{0}, {0}, 4>>", times.len()));
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
