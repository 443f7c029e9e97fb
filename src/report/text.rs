//! A finding in words: what was called and answered, why no order explains it, and the ruled block
//! that says what to do next. A stored finding comes in, text goes out.

use std::fmt::Write;

use crate::finding::{Stored, What};
use crate::history::{History, OperationId};
use crate::plan::{Engine, Plan, quoted};
use crate::report::timeline;
use crate::trace::frame::TargetInfo;

const RULE: &str =
    "════════════════════════════════════════════════════════════════════════════════";
/// Operations shown of a round that ended in a fault: the last of each thread.
const LAST_OPERATIONS: usize = 3;

/// The whole report.
pub fn render(stored: &Stored) -> String {
    let finding = &stored.finding;
    let (target, plan) = (&stored.hello.target, &finding.plan);
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(subject(plan, target, &finding.model));
    if finding.confirmed == Some(false) {
        line(String::new());
        line(wrap(&format!(
            "NOT REPRODUCED: round {}, run alone in a fresh process, did not show this again. \
             Something besides the plan decides it: what earlier rounds left behind in the \
             process, addresses, time, or a race that the engine does not see.",
            finding.round
        )));
    }
    line(String::new());
    match &finding.what {
        What::Violation { rule, explanation, operations } => {
            line(format!("No order of the calls explains the answers ({rule})."));
            line(wrap(explanation));
            line(String::new());
            line(picture(stored, operations));
        }
        What::Fault { sentence, places, message, .. } => {
            line(wrap(sentence));
            places.iter().for_each(|place| line(format!("  - {place}")));
            if let Some(message) = message {
                line(format!("It said: {message}"));
            }
            line(String::new());
            if !stored.round.history.is_empty() {
                line("The last calls of each thread, those under way without an answer:".into());
                line(picture(stored, &last_operations(&stored.round.history)));
            }
        }
    }
    text + &block(stored)
}

/// "moodycamel: moodycamel::ConcurrentQueue 1.0.3, judged as fifo-per-producer".
pub fn subject(plan: &Plan, target: &TargetInfo, model: &str) -> String {
    let library = format!("{} {}", target.library, target.version);
    let library = match library.trim() {
        "" => String::new(),
        library => format!(": {library}"),
    };
    format!("{}{library}, judged as {model}", plan.target_name())
}

/// The ruled block: what, and what to do next.
fn block(stored: &Stored) -> String {
    let finding = &stored.finding;
    let directory = quoted(&stored.directory.display().to_string());
    let round = &stored.round.start;
    let (threads, operations) = (round.threads, stored.round.history.len());
    let mut text = format!("{RULE}\n");
    let mut row = |name: &str, value: String| {
        writeln!(text, "{name:<16} {value}").expect("writing to a string");
    };
    row("Finding", format!("{} ({})", finding.name, finding.signature));
    row(
        "Where",
        format!("round {}, {threads} threads, {operations} operations recorded", finding.round),
    );
    match finding.confirmed {
        Some(true) => row("Confirmed", "Reproduced in a fresh process.".to_string()),
        Some(false) => row("Confirmed", "NOT reproduced in a fresh process.".to_string()),
        None => {}
    }
    match finding.plan.engine {
        Engine::Controlled => row(
            "Reproduce with",
            format!("interlap replay {directory}  # that round alone, the same each time"),
        ),
        Engine::Native => {
            row("Reproduce with", format!("interlap replay {directory}  # until it recurs"))
        }
    }
    row("Found with", finding.plan.to_string());
    if finding.plan.engine == Engine::Native {
        row(
            "Break at it with",
            "not possible: native threads are scheduled differently each time".to_string(),
        );
    }
    row("Picture at", format!("interlap show {directory}"));
    text + RULE + "\n"
}

fn picture(stored: &Stored, operations: &[OperationId]) -> String {
    let history = &stored.round.history;
    let drain = stored.round.start.threads;
    let unit = stored.hello.clock.nanoseconds_per_unit;
    let mut text = timeline::draw(history, operations, drain, unit);
    if operations.len() > timeline::OPERATIONS_MAX {
        let (shown, all) = (timeline::OPERATIONS_MAX, operations.len());
        writeln!(text, "\n  The last {shown} of {all} operations.").expect("writing to a string");
    }
    text + "\n  Time runs to the right, not to scale; [start, end] in nanoseconds.\n"
}

fn last_operations(history: &History) -> Vec<OperationId> {
    let each = history.threads.iter().enumerate().flat_map(|(thread, t)| {
        let len = t.operations().len();
        (len.saturating_sub(LAST_OPERATIONS)..len)
            .map(move |index| OperationId { thread: thread as u32, index: index as u32 })
    });
    each.collect()
}

/// Breaks a paragraph into lines of at most 80 columns.
fn wrap(paragraph: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 80 {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text
}
