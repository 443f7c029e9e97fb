//! The report of a finding: its operations, why no order explains them, and a ruled block that says
//! what to do next.

use std::fmt::Write;

use crate::core::columns;
use crate::core::history::OperationId;
use crate::core::interner::Interner;
use crate::core::measured::time;
use crate::core::plan::{Engine, Plan, quoted};
use crate::finding::{Failure, PAGE_FILE, Stored};
use crate::process::fault::FaultKind;
use crate::report::questions;
use crate::report::words::{
    self, BREAK_AT_IT_WITH, CHECKED_AGAINST, CONFIRMED, FINDING, HOW_IT_WENT, REPRODUCE_WITH,
    SHRUNK_TO,
};
use crate::report::{explanation, interleaving, recording};
use crate::trace::frame::TargetInfo;
use crate::view::explanation::{UNEXPLAINED, partials};
use crate::view::timeline::{self, SHOWN_MAX, letter, witness_note};
use crate::view::versions;

const RULE: &str =
    "════════════════════════════════════════════════════════════════════════════════";

/// Most rows of the table in a brief report.
const BRIEF_ROWS_MAX: usize = 14;

/// The whole report.
pub fn render(stored: &Stored) -> String {
    let finding = &stored.finding;
    let subject = subject(&finding.plan, &stored.hello.target, &finding.model);
    let partials = match &finding.what {
        Failure::Violation { partials: Some(partials), .. } => {
            let history = &stored.round.history;
            partials::text(partials, history, &Interner::default()) + "\n"
        }
        _ => String::new(),
    };
    let table = table(stored, interleaving::ROWS_MAX, "`interlap explain --all` has all");
    format!("{subject}\n{}{partials}{table}{}", verdict(stored), block(stored))
}

/// The report of the first finding of a run: the verdict, the picture, a short table, and where the
/// rest is.
pub fn brief(stored: &Stored) -> String {
    let directory = quoted(&stored.directory.display().to_string());
    let mut facts = about(stored);
    facts.push(("Whole report".into(), format!("interlap show {directory}")));
    let facts: Vec<_> = facts.into_iter().map(|(name, value)| [name, value]).collect();
    let table = table(stored, BRIEF_ROWS_MAX, "the whole report has more");
    let verdict = verdict(stored);
    format!("{}{table}{}", verdict.trim_start(), columns::table(&facts, 0..0, ""))
}

/// A finding after the first one of a run, in a few lines.
pub fn in_few_lines(stored: &Stored) -> String {
    let finding = &stored.finding;
    let directory = quoted(&stored.directory.display().to_string());
    let what = match &finding.what {
        Failure::Violation { .. } => explanation::of_finding(stored),
        Failure::Fault { .. } => words::fault(&finding.what),
    };
    let size = finding.shrunk.as_ref().map(|shrunk| format!(" In {}.", shrunk.size));
    let doubt = match finding.confirmed {
        Some(false) => " NOT reproduced in a fresh process.",
        _ => "",
    };
    let size = size.unwrap_or_default();
    let words = wrap(&format!("{}: {}. {what}{size}{doubt}", finding.name, finding.signature));
    format!("{words}\n  interlap show {directory}")
}

/// What was found, and the picture.
fn verdict(stored: &Stored) -> String {
    let finding = &stored.finding;
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
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
    let question = |line: &mut dyn FnMut(String)| {
        questions::of_finding(stored).iter().for_each(|question| line(wrap(question)));
    };
    match &finding.what {
        Failure::Violation { rule, .. } => {
            line(format!("{UNEXPLAINED} ({rule})."));
            line(wrap(&explanation::of_finding(stored)));
            question(&mut line);
            line(String::new());
            line(picture(stored));
        }
        Failure::Fault { message, .. } => {
            line(wrap(&words::fault(&finding.what)));
            words::places(&finding.what).iter().for_each(|place| line(format!("  - {place}")));
            if let Some(message) = message {
                line(format!("It said: {message}"));
            }
            question(&mut line);
            line(String::new());
            if !stored.round.history.is_empty() {
                line("The last calls of each thread, those under way without an answer:".into());
                line(picture(stored));
            }
        }
    }
    text
}

/// What the threads did in at most so many rows, and who has the others.
fn table(stored: &Stored, rows_max: usize, others: &str) -> String {
    let Some(table) = &stored.interleaving else { return String::new() };
    let mut text = format!("{HOW_IT_WENT} (what other threads can notice; {others}):\n\n");
    text += &interleaving::key(table, rows_max);
    text += &interleaving::draw(table, stored.round.history.drain, false, rows_max);
    text + "\n"
}

/// One line for a finding that is reported once it is shrunk.
pub fn one_line(stored: &Stored) -> String {
    let (finding, round) = (&stored.finding, &stored.round);
    let calls = round.history.len();
    let threads = words::counted(round.start.threads.into(), "thread");
    let directory = quoted(&stored.directory.display().to_string());
    format!(
        "found after {}: {}, in {calls} calls of {threads}; reported once it is smaller \
         (as it is: interlap show {directory})",
        time(finding.after_seconds),
        finding.signature
    )
}

/// "moodycamel: moodycamel::ConcurrentQueue 1.0.3, checked against model fifo-per-producer".
pub fn subject(plan: &Plan, target: &TargetInfo, model: &str) -> String {
    let library = format!("{} {}", target.library, target.version);
    let library = match library.trim() {
        "" => String::new(),
        library => format!(": {library}"),
    };
    format!("{}{library}, {CHECKED_AGAINST} {model}", plan.target_name())
}

/// The ruled block: the facts, and what to do next.
fn block(stored: &Stored) -> String {
    let directory = quoted(&stored.directory.display().to_string());
    let mut facts = facts(stored);
    if stored.is_written() {
        facts.push((
            "Picture at".into(),
            format!("{directory}/{PAGE_FILE}  # opens in any browser"),
        ));
        facts.push((String::new(), format!("interlap show {directory}  # in words")));
    }
    let rows: Vec<_> = facts.into_iter().map(|(name, value)| [name, value]).collect();
    format!("{RULE}\n{}{RULE}\n", columns::table(&rows, 0..0, ""))
}

/// The facts of a finding and what to do next, as names and values. A value without a name
/// continues the one before.
pub fn facts(stored: &Stored) -> Vec<(String, String)> {
    [about(stored), what_next(stored)].concat()
}

fn about(stored: &Stored) -> Vec<(String, String)> {
    let finding = &stored.finding;
    let round = &stored.round.start;
    let (threads, operations) = (round.threads, stored.round.history.len());
    let mut facts = Vec::new();
    let mut row = |name: &str, value: String| facts.push((name.to_string(), value));
    row(FINDING, format!("{} ({})", finding.name, finding.signature));
    row(
        "Where",
        format!(
            "round {}, {}, {} recorded",
            finding.round,
            words::counted(threads.into(), "thread"),
            words::counted(operations as u64, "operation")
        ),
    );
    if let Some(known) = &finding.known {
        row("Known as", known.to_string());
    }
    for (at, race) in finding.races.iter().enumerate() {
        row(if at == 0 { "Most likely" } else { "" }, format!("because of a {race}"));
    }
    if let Some(of) = &finding.regression {
        row("Regression of", format!("{of}, which shows again"));
    }
    if let Some(shrunk) = &finding.shrunk {
        row(SHRUNK_TO, format!("{}; the shortest round had {}", shrunk.size, shrunk.before));
        if shrunk.signature != finding.signature {
            row("", format!("as {}", shrunk.signature));
        }
    }
    match finding.confirmed {
        Some(true) => row("Confirmed", CONFIRMED.to_string()),
        Some(false) => row("Confirmed", "NOT reproduced in a fresh process.".to_string()),
        None => match finding.shrunk.as_ref().and_then(|shrunk| shrunk.measured) {
            Some(measured) => {
                row("Confirmed", format!("Shown {measured}:"));
                row("", measured.certainty());
            }
            None => row("Confirmed", words::unconfirmed(finding)),
        },
    }
    facts
}

fn what_next(stored: &Stored) -> Vec<(String, String)> {
    let finding = &stored.finding;
    let directory = quoted(&stored.directory.display().to_string());
    let mut facts = Vec::new();
    let mut row = |name: &str, value: String| facts.push((name.to_string(), value));
    let plan = finding.shrunk.as_ref().map_or(&finding.plan, |shrunk| &shrunk.plan);
    if !stored.is_written() {
        row(REPRODUCE_WITH, format!("{plan}  # of the finding itself nothing is written"));
        return facts;
    }
    let again = match finding.plan.engine {
        Engine::Controlled => "  # that round alone, the same each time",
        Engine::Rr if finding.recorded.is_none() => " --history-only  # there is no recording",
        Engine::Rr => "  # the recording, the same each time",
        Engine::Native => "  # until it recurs",
    };
    row(REPRODUCE_WITH, format!("interlap replay {directory}{again}"));
    row("Found with", plan.to_string());
    if let Some(recorded) = &finding.recorded {
        for (at, line) in recording::lines(stored, recorded).into_iter().enumerate() {
            row(if at == 0 { "Recording" } else { "" }, line);
        }
    }
    if let Some(engines) = &finding.cross_engine {
        for (at, line) in recording::cross_engine(stored, engines).into_iter().enumerate() {
            row(if at == 0 { "Smaller" } else { "" }, line);
        }
    }
    if let Some(recorded) = &finding.recorded_as {
        row("Recorded by rr", recording::recorded_as(stored, recorded));
    }
    for (at, line) in debugger_commands(stored, &directory).into_iter().enumerate() {
        row(if at == 0 { BREAK_AT_IT_WITH } else { "" }, line);
    }
    facts
}

/// How to stop a debugger at the finding.
fn debugger_commands(stored: &Stored, directory: &str) -> Vec<String> {
    let plan = &stored.finding.plan;
    match (plan.engine, &stored.finding.what) {
        (Engine::Controlled, Failure::Violation { .. }) => {
            let letter = culprit(stored).map_or(String::new(), |letter| format!(" --op {letter}"));
            vec![
                format!("interlap replay {directory} --gdb{letter}"),
                format!("gdb -x {directory}/debug.gdb  # then: help user-defined"),
            ]
        }
        (Engine::Controlled, Failure::Fault { kind: FaultKind::Hang, .. }) => {
            vec![format!("interlap replay {directory} --gdb  # Ctrl-C once it hangs")]
        }
        (Engine::Controlled, Failure::Fault { .. }) => {
            vec![format!("interlap replay {directory} --gdb  # stops at the fault")]
        }
        (Engine::Rr, _) if stored.finding.recorded.is_none() => Vec::new(),
        (Engine::Rr, _) => recording::debugger_commands(stored, culprit(stored)),
        (Engine::Native, _) if stored.finding.can_be_controlled => {
            let plan = Plan { engine: Engine::Controlled, ..plan.clone() };
            vec![
                "not possible: stamps of native threads are others in each run. To hunt it".into(),
                "with the controlled engine, which stops at what it finds:".into(),
                plan.to_string(),
            ]
        }
        (Engine::Native, _) => {
            vec![
                "not possible: stamps of native threads are others in each run, and the".into(),
                "controlled engine, which stops at what it finds, cannot run this target.".into(),
            ]
        }
    }
}

/// The letter of the operation to look at first: the last of the witness to begin, without the
/// drain's. More often than not the others make its answer impossible.
fn culprit(stored: &Stored) -> Option<char> {
    let (history, shown) = (&stored.round.history, stored.shown());
    let of_caller =
        |id: &&OperationId| history.threads[id.thread as usize].client < stored.round.start.threads;
    let witness = witness(stored);
    let bad = shown.iter().filter(|id| witness.contains(id));
    let first = bad.clone().rfind(of_caller).or(bad.clone().next_back()).or(shown.last())?;
    letter(&shown, *first)
}

/// The witness of a violation; of a fault nothing.
fn witness(stored: &Stored) -> &[OperationId] {
    match &stored.finding.what {
        Failure::Violation { operations, .. } => operations,
        Failure::Fault { .. } => &[],
    }
}

/// The timeline of the operations, with a legend and notes.
pub fn picture(stored: &Stored) -> String {
    let (history, operations) = (&stored.round.history, stored.shown());
    let unit = stored.hello.clock.shown();
    let missing = stored.missing();
    let strings = Interner::default();
    let mut text = timeline::draw(history, &operations, missing.as_ref(), unit, &strings);
    let all = match &stored.finding.what {
        Failure::Violation { operations, .. } => operations.len(),
        Failure::Fault { .. } => operations.len(),
    };
    if all > SHOWN_MAX {
        writeln!(text, "\n  {SHOWN_MAX} of {all} operations.").expect("writing to a string");
    }
    text += &format!("\n  Time runs to the right, not to scale; [start, end] in {}.\n", unit.name);
    let of_drain = |id: &OperationId| history.client_name(*id) == "drain";
    if operations.iter().any(of_drain) {
        text += "  Drain: when all threads are done, what is left is looked at or taken out.\n";
    }
    if history.only(&operations).has_blocks() {
        text += "  One box of several calls: they were made in a row, without stamps in between.\n";
    }
    if let Some(line) = witness_note(&operations, witness(stored)) {
        text += &format!("  {line}\n");
    }
    let versions = versions::table(history, witness(stored), &strings);
    if !versions.is_empty() {
        text += &format!("\nVersions:\n{versions}");
    }
    text
}

/// Breaks a paragraph into lines of at most 80 columns.
fn wrap(paragraph: &str) -> String {
    let options = textwrap::Options::new(80).break_words(false);
    let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(&paragraph.split_whitespace().collect::<Vec<_>>().join(" "), options)
}
