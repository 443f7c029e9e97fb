//! Draws operations as timeboxes, a row for each thread, with a legend.

use crate::check::Missing;
use crate::core::columns;
use crate::core::history::{History, NEVER, OperationId, Unit};
use crate::core::interner::Interner;
use crate::core::words;

/// Most operations that are drawn: there are as many letters.
pub const SHOWN_MAX: usize = 26;
/// Of a history with no more operations than this all are drawn: each may play a part.
pub const SHOWN_WHOLE: usize = 12;
/// Columns between two neighbouring stamps.
const STEP: usize = 4;

/// Draws the last of `ids`, in the order of their stamps but not to scale. The legend has times in
/// `unit`, counted from the first start unless they are absolute, and values as `strings` has them.
/// `missing` are values that one of them should have returned.
pub fn draw(
    history: &History,
    ids: &[OperationId],
    missing: Option<&Missing>,
    unit: Unit,
    strings: &Interner,
) -> String {
    let mut ids = ids.to_vec();
    ids.sort_by_key(|id| (history.operation(*id).start, *id));
    ids.dedup();
    let ids = &ids[ids.len().saturating_sub(SHOWN_MAX)..];
    let mut instants: Vec<u64> = ids
        .iter()
        .flat_map(|id| [history.operation(*id).start, history.operation(*id).end])
        .collect();
    instants.sort_unstable();
    instants.dedup();
    let mut rows: Vec<u32> = ids.iter().map(|id| client(history, *id)).collect();
    rows.sort_unstable();
    rows.dedup();
    let row = |row: u32| {
        let on_row = ids.iter().enumerate().filter(|(_, id)| client(history, **id) == row);
        [history.name_of(row), boxes(history, on_row, &instants)]
    };
    let rows: Vec<_> = rows.into_iter().map(row).collect();
    let legend: String =
        legend(history, ids, missing, unit, strings).iter().map(|l| format!("  {l}\n")).collect();
    format!("{}\n{legend}", columns::table(&rows, 0..0, "  "))
}

/// A line for each operation: its letter, thread, call and times.
pub fn legend(
    history: &History,
    ids: &[OperationId],
    missing: Option<&Missing>,
    unit: Unit,
    strings: &Interner,
) -> Vec<String> {
    let starts = ids.iter().map(|id| history.operation(*id).start);
    let zero = if unit.is_absolute { 0 } else { starts.min().unwrap_or(0) };
    let shown = |stamp: u64| ((stamp - zero) as f64 * unit.factor).round();
    let row = |(letter, id): (char, &OperationId)| {
        let operation = history.operation(*id);
        let end = match operation.end {
            NEVER => "…".to_string(),
            end => shown(end).to_string(),
        };
        let shown_value = |value| strings.shown(value);
        let call = match missing.filter(|missing| missing.removal == *id) {
            Some(Missing { before, values, .. }) => {
                let call = words::call(operation.op, history.args(*id), &shown_value);
                let (kind, results) = ((operation.op, operation.status), history.results(*id));
                let lacks = (*before, &values[..]);
                format!("{call} -> {}", words::answer_without(kind, results, lacks, &shown_value))
            }
            None => words::operation(history, *id, &shown_value),
        };
        let mut times = format!("[{}, {end}]", shown(operation.start));
        history.notes(*id).iter().for_each(|note| times += &format!("  {note}"));
        [letter.to_string(), history.client_name(*id), call, times]
    };
    columns::lines(&letters().zip(ids).map(row).collect::<Vec<_>>(), 0..0)
}

fn letters() -> impl Iterator<Item = char> {
    'A'..='Z'
}

fn client(history: &History, id: OperationId) -> u32 {
    history.threads[id.thread as usize].client
}

/// Calls of one thread that share a timebox have one box, with a letter for each.
fn boxes<'a>(
    history: &History,
    ids: impl Iterator<Item = (usize, &'a OperationId)>,
    instants: &[u64],
) -> String {
    let timebox = |id: &OperationId| (history.operation(*id).start, history.operation(*id).end);
    let ids: Vec<(usize, &OperationId)> = ids.collect();
    let mut line: Vec<char> = Vec::new();
    let mut chunks = ids.chunk_by(|(_, a), (_, b)| timebox(a) == timebox(b)).peekable();
    while let Some(shared) = chunks.next() {
        let (start, end) = timebox(shared[0].1);
        let column = |instant: u64| instants.partition_point(|other| *other < instant) * STEP;
        // A client goes on while a call of unknown outcome is open.
        let next = chunks.peek().map(|next| column(timebox(next[0].1).0).saturating_sub(1));
        let last = column(end).min(next.filter(|_| end == NEVER).unwrap_or(usize::MAX));
        let (from, to) = (column(start), last.max(column(start) + 2));
        line.resize(line.len().max(to + 1), ' ');
        line[from..=to].fill('─');
        line[from] = '├';
        line[to] = if end == NEVER { '…' } else { '┤' };
        // The letters that do not fit stand in the legend alone.
        let shown = shared.len().min(to - from - 1);
        let first = from + 1 + (to - from - shown) / 2;
        for (at, (index, _)) in (first..).zip(&shared[..shown]) {
            line[at.min(to - 1)] = letters().nth(*index).expect("truncated to letters");
        }
    }
    line.into_iter().collect::<String>().trim_end().to_string()
}

/// The letter of an operation of those that are shown.
pub fn letter(shown: &[OperationId], id: OperationId) -> Option<char> {
    let at = shown.iter().position(|other| *other == id)?;
    ('A'..='Z').nth(at)
}

/// Names the operations of the picture that are the witness, if it has others too.
pub fn witness_note(shown: &[OperationId], witness: &[OperationId]) -> Option<String> {
    let letters: Vec<String> = shown
        .iter()
        .filter(|id| witness.contains(id))
        .filter_map(|id| letter(shown, *id))
        .map(String::from)
        .collect();
    let others = !letters.is_empty() && letters.len() < shown.len();
    others.then(|| format!("What is said above is about {}.", letters.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Limits, Verdict, check};
    use crate::core::history::{Entry, Thread};
    use crate::core::operation::{Op, Status};
    use crate::exchange::jsonl;

    #[test]
    fn boxes_stand_in_the_order_of_their_stamps() {
        let text = r#"{"interlap": 1, "model": "fifo"}
{"thread": 0, "op": "enqueue", "args": [7], "start": 10, "end": 14}
{"thread": 1, "op": "dequeue", "start": 12, "end": 19, "results": [7]}
{"thread": 2, "op": "dequeue", "start": 30, "end": null, "status": "pending"}
"#;
        let mut history = jsonl::read(text, None).expect("good").history;
        history.drain = Some(2);
        let ids: Vec<_> = history.ids().collect();
        let unit = Unit { factor: 2.0, name: "nanoseconds", is_absolute: false };
        let drawn = draw(&history, &ids, None, unit, &Interner::default());
        let expected = "  \
  thread 0  ├───A───┤
  thread 1      ├───B───┤
  drain                     ├─C─…

  A  thread 0  enqueue(7) -> ok             [0, 8]
  B  thread 1  dequeue() -> 7               [4, 18]
  C  drain     dequeue() -> never returned  [40, …]
";
        assert_eq!(drawn.trim_start(), expected.trim_start());
    }

    #[test]
    fn calls_that_share_a_timebox_have_one_box() {
        let mut history = History::default();
        for client in [0, 0, 1] {
            let mut thread = Thread::new(client);
            let (op, status, args) = (Op::Push, Status::Ok, &[7][..]);
            let entry = Entry { op, status, start: 3, end: 9, args, results: &[] };
            thread.push(entry).expect("the first");
            history.threads.push(thread);
        }
        let ids: Vec<_> = history.ids().collect();
        let unit = Unit { factor: 1.0, name: "steps", is_absolute: true };
        let drawn = draw(&history, &ids, None, unit, &Interner::default());
        assert!(drawn.starts_with("  thread 0  ├─AB┤\n  thread 1  ├─C─┤\n"), "{drawn}");
    }

    #[test]
    fn steps_of_a_schedule_are_not_counted_anew() {
        let text = r#"{"thread": 0, "op": "pop", "start": 135, "end": 151, "status": "empty"}"#;
        let history = jsonl::read(text, "lifo".parse().ok()).expect("good").history;
        let ids: Vec<_> = history.ids().collect();
        let unit = Unit { factor: 1.0, name: "steps", is_absolute: true };
        assert!(draw(&history, &ids, None, unit, &Interner::default()).contains("[135, 151]"));
    }

    #[test]
    fn what_is_missing_in_a_result_stands_where_it_should_be() {
        let text = r#"{"interlap": 1, "model": "fifo-per-producer:bulk=run"}
{"thread": 0, "op": "enqueue_bulk", "args": [1, 2, 3], "start": 1, "end": 2}
{"thread": 1, "op": "dequeue_bulk", "args": [2], "start": 3, "end": 6, "results": [1, 3]}
{"thread": 2, "op": "dequeue", "start": 4, "end": 5, "results": [2]}
"#;
        let gap = jsonl::read(text, None).expect("good");
        let text = r#"{"interlap": 1, "model": "fifo", "drained": true}
{"thread": 0, "op": "enqueue", "args": [7], "start": 1, "end": 2}
{"thread": 1, "op": "dequeue", "start": 3, "end": 4, "status": "empty"}
"#;
        let mut lost = jsonl::read(text, None).expect("good");
        lost.history.drain = Some(1);
        for (recorded, expected) in [
            (gap, "dequeue_bulk(2) -> 1, [2 is missing], 3"),
            (lost, "dequeue() -> empty, [7 is missing]"),
        ] {
            let (history, model) = (&recorded.history, recorded.model.expect("it is named"));
            let Verdict::Violation(witness) = check(history, &model, &Limits::default()) else {
                panic!("{expected}: no violation")
            };
            let missing = witness.explanation.missing(history);
            let ids: Vec<_> = history.ids().collect();
            let unit = Unit { factor: 1.0, name: "steps", is_absolute: true };
            let drawn = draw(history, &ids, missing.as_ref(), unit, &Interner::default());
            assert!(drawn.contains(expected), "{drawn}");
        }
    }
}
