//! Writes a bug report for the library's authors, as Markdown to be pasted into an issue.

use std::fmt::Write;

use super::search::TrialResult;
use super::{Draft, Material, calls, readme};
use crate::core::columns;
use crate::core::history::OperationId;
use crate::core::interner::Interner;
use crate::core::plan::Engine;
use crate::finding::{Failure, Stored};
use crate::report::explanation;
use crate::report::{interleaving, text, words};
use crate::view::explanation::partials;

/// Most rows of the interleaving.
const ROWS_MAX: usize = 40;

/// The versions with which it was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Versions {
    /// Packages of the system, with their versions.
    pub packages: Vec<String>,
    pub compiler: String,
    pub system: String,
}

/// The name of the library, or of the target.
fn subject(stored: &Stored) -> String {
    let library = stored.hello.target.library.trim();
    if library.is_empty() {
        stored.finding.plan.target_name().to_string()
    } else {
        library.to_string()
    }
}

/// "boost::lockfree::queue: dequeue says that it is empty, which it was not (3 threads, 5 calls)".
pub fn title(stored: &Stored) -> String {
    let round = &stored.round;
    let drain = round.start.threads;
    let of_caller = |id: &OperationId| round.history.threads[id.thread as usize].client < drain;
    let calls = round.history.ids().filter(of_caller).count();
    let what = match &stored.finding.what {
        Failure::Violation { rule, operations, .. } => {
            let mut names: Vec<&str> =
                operations.iter().map(|id| round.history.operation(*id).op.name()).collect();
            names.sort_unstable();
            names.dedup();
            format!("{}{}", rule_words(rule), seen_in(&names))
        }
        Failure::Fault { kind, stage, .. } => format!("{} {}", kind.name(), stage.doing()),
    };
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    format!(
        "{}: {what} ({drain} thread{}, {calls} call{})",
        subject(stored),
        plural(drain.into()),
        plural(calls as u64)
    )
}

fn seen_in(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name}()")).collect();
    if names.is_empty() { String::new() } else { format!(", seen in {}", names.join(", ")) }
}

/// A rule in words for somebody who does not know interlap's rules.
fn rule_words(rule: &str) -> &'static str {
    match rule {
        "lost" => "a value that was put in is lost",
        "taken-twice" => "a value is handed out twice",
        "from-nowhere" => "a value is handed out that nobody put in",
        "empty-while-full" => "says that it is empty while it holds a value",
        "fifo-order" | "k-order" | "producer-order" => "values come out in a wrong order",
        "lifo-order" => "values come out in a wrong order",
        "priority-order" => "not the smallest value comes out first",
        "set-answer" | "set-answer-in-order" => "an answer that does not fit what is in the set",
        "counted-twice" => "a change is counted twice",
        "log-order" => "records are not in the order in which they were appended",
        "log-position" => "a position of the log that does not fit its records",
        "lost-append" => "what was appended is lost",
        "lost-put" => "what was put is lost",
        "appended-twice" => "what was appended once is there twice",
        "misplaced-append" => "what was appended later stands first",
        "aborted-read" => "a transaction reads what was never committed",
        "intermediate-read" => "a transaction reads what was replaced before its writer committed",
        "non-repeatable-read" => "one transaction reads two values of a key",
        "own-write-lost" => "a transaction does not read what it wrote itself",
        "fractured-read" => "a transaction reads a part of what another committed at once",
        "stale-read" => "a transaction reads what was replaced before it began",
        "write-skew" => "two transactions commit that read what the other replaces",
        "timestamp-order" => "a later transaction has the earlier timestamp",
        "lost-update" => "the update of a committed transaction is lost",
        "write-conflict" => "two transactions that change the same key both commit",
        "future-read" => "a transaction reads what was not committed when it began",
        "not-a-snapshot" => "a transaction reads what never was there at one time",
        "sequential" => "a wrong answer even without concurrency",
        _ => "answers that no order of the calls explains",
    }
}

pub fn text(
    material: &Material,
    draft: &Draft,
    tried: &TrialResult,
    versions: &Versions,
) -> String {
    let stored = material.stored;
    let mut text = format!("# {}\n\n", material.title);
    text += &what_is_wrong(stored);
    text += "\n## What is called\n\n";
    text += &scenario(stored);
    if let Some(table) = material.execution.map(|execution| &execution.table) {
        text += "\n## How it happens\n\nWhat other threads can notice, in the order in which it \
                 happened.";
        if table.names_blocks() {
            text += " `#3+8` is byte 8 of the third block of memory that was allocated.";
        }
        if table.has_delays() {
            text += " A store that others do not see yet is in its thread's store buffer, as on \
                     x86, where it may stay until a fence or a locked instruction.";
        }
        text += "\n\n```\n";
        text += &interleaving::draw(table, stored.round.history.drain, false, ROWS_MAX);
        text += "```\n";
    }
    text += "\n## To reproduce\n\n";
    text += &reproduce(material, draft, tried);
    text += "\n## Versions\n\n";
    text + &list(stored, versions)
}

fn what_is_wrong(stored: &Stored) -> String {
    match &stored.finding.what {
        Failure::Violation { partials: known, .. } => {
            let (history, sentences) = (&stored.round.history, explanation::of_finding(stored));
            let mut text = format!(
                "{sentences}\n\nEach call takes effect at one moment between its begin and its \
                 end, if the structure is linearizable; so there has to be an order of the calls \
                 that explains all answers, and in which a call that returned before another began \
                 comes first. There is none (checked against model `{}`).\n",
                stored.finding.model
            );
            let picture = text::picture(stored);
            write!(text, "\n```\n{picture}```\n").expect("writing to a string");
            if let Some(known) = known {
                let how_far = partials::text(known, history, &Interner::default());
                write!(text, "\n```\n{how_far}```\n").expect("writing to a string");
            }
            text
        }
        Failure::Fault { message, .. } => {
            let what = &stored.finding.what;
            let mut text = format!("{}\n", words::fault(what));
            words::places(what).iter().for_each(|place| text += &format!("- {place}\n"));
            if let Some(message) = message {
                write!(text, "\nIt said: `{message}`\n").expect("writing to a string");
            }
            text
        }
    }
}

/// The calls of each thread with their answers.
fn scenario(stored: &Stored) -> String {
    let (history, drain) = (&stored.round.history, stored.round.start.threads);
    let mut text = "```\n".to_string();
    for thread in 0..=drain {
        let mut ids = history.program_order(thread);
        ids.retain(|id| !stored.is_uninformative(*id));
        if ids.is_empty() {
            continue;
        }
        let name = if thread == drain {
            "when all are done".to_string()
        } else {
            format!("thread {thread}")
        };
        writeln!(text, "{name}:").expect("writing to a string");
        let line = |id| {
            let answer = calls::answer(history, id);
            let answer = answer.unwrap_or_else(|| "does not return".to_string());
            [calls::call(history, id), format!("-> {answer}")]
        };
        let lines = columns::lines(&ids.into_iter().map(line).collect::<Vec<_>>(), 0..0);
        for same in lines.chunk_by(|a, b| a == b) {
            let more = same.len() - 1;
            let listed = same.iter().take(if more > 2 { 1 } else { same.len() });
            listed.for_each(|line| writeln!(text, "    {line}").expect("writing to a string"));
            if more > 2 {
                writeln!(text, "    ... and {more} times more").expect("writing to a string");
            }
        }
    }
    text + "```\n"
}

fn reproduce(material: &Material, draft: &Draft, tried: &TrialResult) -> String {
    let mut text = format!(
        "With the attached directory, which needs nothing but a compiler and the library:\n\n\
         ```sh\n{}\n./reproducer\n```\n\n",
        draft.command
    );
    text += &readme::outcome(material, draft, tried);
    let found = match material.stored.finding.plan.engine {
        Engine::Controlled => "one thread at a time, in an order that a seed determines",
        Engine::Native | Engine::Rr => "threads of the operating system",
    };
    write!(
        text,
        "\nIt was found with interlap {} ({found}):\n\n{}",
        env!("CARGO_PKG_VERSION"),
        readme::with_interlap(material.stored)
    )
    .expect("writing to a string");
    text
}

fn list(stored: &Stored, versions: &Versions) -> String {
    let target = &stored.hello.target;
    let mut lines = Vec::new();
    if !target.library.is_empty() || !target.version.is_empty() {
        lines.push(format!("{} {}", target.library, target.version).trim().to_string());
    }
    lines.extend(versions.packages.iter().cloned());
    lines.extend([versions.compiler.clone(), versions.system.clone()]);
    lines.retain(|line| !line.is_empty());
    lines.into_iter().map(|line| format!("- {line}\n")).collect()
}
