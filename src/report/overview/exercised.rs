//! Sections of a run's page about what it exercised: operations and answers, which of them
//! overlapped, arguments.

use maud::{Markup, html};

use super::html::{Cell, Row, Section, grouped, percent, table};
use crate::core::operation::Op;
use crate::fuzz::exercise::{
    Answer, BUCKETS, Exercise, Gap, Measure, Offer, bounds, bucket, expected, has_keys, measure,
    pairs_of_answers,
};

/// What never happened, and which options may change that.
pub fn never(exercise: &Exercise, gaps: &[Gap]) -> Section {
    let part = match exercise.is_sampled() {
        true => " What overlaps, and arguments, are of the rounds that were looked at.",
        false => "",
    };
    let says = format!(
        "What this run never did tells nothing about the structure. These options of `interlap \
         fuzz` may bring it about; where there is none, a longer run may.{part}"
    );
    let row = |gap: &Gap| (gap.never.clone(), vec![Cell::Code(gap.try_.clone())]);
    let rows: Vec<Row> = gaps.iter().map(row).collect();
    let html = html! {
        @if rows.is_empty() {
            p {
                "Every operation was called, gave each kind of answer, and overlapped every other."
            }
        } @else {
            p { (says) }
            (table("", "What never happened", &["Never", "Try"], &rows))
        }
    };
    Section { id: "never", title: "Never exercised", html }
}

/// Operations and their answers.
pub fn operations(exercise: &Exercise, offer: &Offer) -> Section {
    let all: u64 = exercise.answers.iter().map(|answers| answers.calls).sum();
    let cells = |of: u64, whole: u64| match of {
        0 => vec![Cell::Never, Cell::Text(String::new())],
        _ => vec![Cell::Count(of), Cell::Share(of as f64 / whole.max(1) as f64)],
    };
    let mut rows = Vec::new();
    for &op in &offer.operations {
        let calls = exercise.calls(op);
        rows.push((op.name().to_string(), cells(calls, all)));
        let answers = answers(exercise, op, offer).into_iter();
        rows.extend(
            answers.map(|(words, n)| (format!("{} → {words}", op.name()), cells(n, calls))),
        );
    }
    let names = ["Operation, answer", "Calls", "Share"];
    let caption = "Calls of each operation, as a share of all calls, and its answers, as shares of \
                   its calls";
    Section { id: "operations", title: "Operations", html: table("", caption, &names, &rows) }
}

/// The kinds of answers of an operation that was called: those given, and those expected.
fn answers(exercise: &Exercise, op: Op, offer: &Offer) -> Vec<(String, u64)> {
    let given = exercise.answers.iter().filter(|answers| answers.answer.op == op);
    let mut found: Vec<_> = given.map(|a| (a.answer.outcome, a.calls)).collect();
    if found.is_empty() {
        return Vec::new();
    }
    for outcome in expected(op, offer.capacity > 0) {
        if !found.iter().any(|(other, _)| *other == outcome) {
            found.push((outcome, 0));
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(outcome, calls)| (outcome.words(op).to_string(), calls)).collect()
}

/// How often operations overlapped, and how many calls were under way at once.
pub fn at_once(exercise: &Exercise, offer: &Offer) -> Section {
    let (mean, most) = exercise.concurrency();
    let says = format!(
        "When a call began, {mean:.1} calls were under way on average, itself included, and at \
         most {most}."
    );
    let html = html! {
        p { (says) }
        (matrix(exercise, &offer.operations))
        (missing(exercise))
        .charts { (depths(exercise)) (threads(exercise)) }
    };
    Section { id: "at-once", title: "At once", html }
}

fn matrix(exercise: &Exercise, ops: &[Op]) -> Markup {
    let overlaps = |one: Op, other: Op| {
        let (same, apart) = exercise.overlaps(one, other);
        same + apart
    };
    let pairs = ops.iter().flat_map(|one| ops.iter().map(|other| overlaps(*one, *other)));
    let most = pairs.max().unwrap_or(0).max(1) as f64;
    let cell = |one: Op, other: Op| {
        let (same, apart) = exercise.overlaps(one, other);
        let split = has_keys(one) && has_keys(other);
        match same + apart {
            0 if exercise.calls(one) == 0 || exercise.calls(other) == 0 => {
                Cell::Impossible("not called")
            }
            0 if !exercise.may_overlap(one, other) => Cell::Impossible("one thread’s"),
            0 => Cell::Never,
            all if split => {
                let below = format!("{} same key", percent(same as f64 / all as f64));
                Cell::Heat(all, (all as f64 / most).sqrt(), below)
            }
            all => Cell::Heat(all, (all as f64 / most).sqrt(), String::new()),
        }
    };
    let mut names = vec!["Operation".to_string()];
    names.extend(ops.iter().map(|op| op.name().to_string()));
    let row =
        |one: &Op| (one.name().to_string(), ops.iter().map(|other| cell(*one, *other)).collect());
    let rows: Vec<Row> = ops.iter().map(row).collect();
    table("grid", "How often calls of two operations overlapped", &names, &rows)
}

/// Pairs of answers that never overlapped.
fn missing(exercise: &Exercise) -> Markup {
    let (all, missing) = pairs_of_answers(exercise);
    let there = all - missing.len();
    let says = format!("Of {all} pairs of answers, {there} were given by calls that overlapped.");
    let name = |(one, other): &(Answer, Answer)| (one.words(), vec![Cell::Text(other.words())]);
    let rows: Vec<Row> = missing.iter().map(name).collect();
    let caption = "Answers that were given, but never by calls that overlapped";
    html! {
        p { (says) }
        @if !rows.is_empty() {
            details {
                summary { "The " (rows.len()) " that never did" }
                (table("", caption, &["Answer", "Other answer"], &rows))
            }
        }
    }
}

fn depths(exercise: &Exercise) -> Markup {
    let all: u64 = exercise.depths.iter().sum();
    let row = |(others, calls): (usize, &u64)| {
        let head = match others {
            0 => "no other".to_string(),
            1 => "1 other".to_string(),
            n => format!("{n} others"),
        };
        (head, vec![Cell::Count(*calls), Cell::Share(*calls as f64 / all.max(1) as f64)])
    };
    let rows: Vec<Row> = exercise.depths.iter().enumerate().map(row).collect();
    let names = ["Under way", "Calls", "Share"];
    table("", "Calls by how many others were under way when they began", &names, &rows)
}

fn threads(exercise: &Exercise) -> Markup {
    let row = |(threads, rounds): (&u32, &u64)| {
        let share = *rounds as f64 / exercise.rounds.max(1) as f64;
        (threads.to_string(), vec![Cell::Count(*rounds), Cell::Share(share)])
    };
    let rows: Vec<Row> = exercise.threads.iter().map(row).collect();
    let names = ["Threads", "Rounds", "Share"];
    table("", "Rounds by the number of threads that called at once", &names, &rows)
}

/// Which arguments were used.
pub fn arguments(exercise: &Exercise, offer: &Offer) -> Option<Section> {
    let kinds = [
        (Measure::Key, "Calls by key"),
        (Measure::Size, "Bulk calls by how many values they were given or asked for"),
        (Measure::Width, "Calls by how many keys their range could hold"),
        (Measure::Position, "Calls by position"),
        (Measure::Amount, "Calls by amount"),
    ];
    let table = |(kind, caption)| argument_table(exercise, offer, kind, caption);
    let tables: Vec<Markup> = kinds.into_iter().filter_map(table).collect();
    let html = html! { @for table in &tables { (table) } };
    (!tables.is_empty()).then_some(Section { id: "arguments", title: "Arguments", html })
}

fn argument_table(
    exercise: &Exercise,
    offer: &Offer,
    kind: Measure,
    caption: &str,
) -> Option<Markup> {
    let ops = offer.operations.iter().copied();
    let ops: Vec<Op> = ops.filter(|op| measure(*op) == Some(kind)).collect();
    let of_kind = exercise.arguments.iter().filter(|a| ops.contains(&a.op));
    let mut buckets: Vec<u64> = of_kind.clone().map(|argument| argument.from).collect();
    if kind == Measure::Key {
        buckets.extend((0..BUCKETS).map(|at| bounds(at).0).filter(|from| *from < offer.keys));
    }
    buckets.sort_unstable();
    buckets.dedup();
    if ops.is_empty() || buckets.is_empty() {
        return None;
    }
    let most = of_kind.clone().map(|argument| argument.calls).max().unwrap_or(0).max(1) as f64;
    let cell = |op: Op, from: u64| match of_kind.clone().find(|a| a.op == op && a.from == from) {
        Some(a) => Cell::Heat(a.calls, (a.calls as f64 / most).sqrt(), String::new()),
        None if kind == Measure::Size => Cell::Never,
        None if kind == Measure::Key && from < offer.keys => Cell::Never,
        None => Cell::Impossible("–"),
    };
    let mut names = vec!["Operation".to_string()];
    names.extend(buckets.iter().map(|from| {
        let (from, to) = bounds(bucket(*from));
        if from == to { from.to_string() } else { format!("{}–{}", grouped(from), grouped(to)) }
    }));
    let row = |op: &Op| {
        let cells: Vec<Cell> = buckets.iter().map(|from| cell(*op, *from)).collect();
        (op.name().to_string(), cells)
    };
    Some(table("grid", caption, &names, &ops.iter().map(row).collect::<Vec<_>>()))
}
