//! Makes the page of a finding.

use std::time::{Duration, Instant};

use crate::check::{Limits, NotShown, Partials, partials};
use crate::core::history::OperationId;
use crate::core::interner::Interner;
use crate::finding::interleaving::{Interleaving as Table, Place, Row, RowKind, in_short};
use crate::finding::{Failure, Stored};
use crate::report::{explanation, text, words};
use crate::view::page::{Conclusion, Interleaved, Interleaving, Subject, render};

/// Time to compute what a page shows besides the finding: far more than a short round takes.
const EVIDENCE_MAX: Duration = Duration::from_secs(1);

/// The page as HTML.
pub fn of_finding(stored: &Stored) -> String {
    let finding = &stored.finding;
    let limits = Limits { deadline: Some(Instant::now() + EVIDENCE_MAX), ..Limits::default() };
    let computed = missing_partials(stored, &limits);
    let conclusion = match &finding.what {
        Failure::Violation { rule, operations, partials, .. } => Conclusion::Violation {
            rule,
            explanation: explanation::of_finding(stored),
            operations,
            partials: partials.as_deref().map_or(computed.as_ref().map_err(Clone::clone), Ok),
        },
        Failure::Fault { message, .. } => {
            let said = message.iter().map(|message| format!("It said: {message}"));
            let more = words::places(&finding.what).into_iter().chain(said).collect();
            Conclusion::Fault { sentence: words::fault(&finding.what), more }
        }
    };
    render(&Subject {
        title: finding.name.clone(),
        about: text::subject(&finding.plan, &stored.hello.target, &finding.model),
        history: &stored.round.history,
        model: finding.model.parse().ok(),
        conclusion,
        lettered: stored.shown(),
        unit: stored.hello.clock.shown(),
        facts: text::facts(stored),
        strings: &Interner::default(),
        interleaving: stored.interleaving.as_ref().map(|table| interleaving(stored, table)),
        limits,
    })
}

/// The steps that matter.
fn interleaving(stored: &Stored, table: &Table) -> Interleaving {
    let rows = in_short(&table.rows);
    let left_out = (table.rows.len() - rows.len()) as u64;
    let (mut steps, mut is_switch) = (Vec::new(), false);
    for row in &rows {
        if matches!(row.what, RowKind::Stopped(_)) {
            is_switch = true;
            continue;
        }
        let place = row.place().map(Place::in_library);
        let file = |place: &Place| place.file.file_name().map(|f| f.to_string_lossy().to_string());
        steps.push(Interleaved {
            step: row.step,
            thread: row.thread,
            operation: operation_at(stored, row),
            what: words::row(row),
            file: place.and_then(file),
            line: place.map(|place| place.line),
            from: place.and_then(|place| place.from),
            text: place.map(|place| place.text.clone()),
            is_switch: std::mem::take(&mut is_switch),
        });
    }
    Interleaving { steps, left_out }
}

/// The call that the row belongs to.
fn operation_at(stored: &Stored, row: &Row) -> Option<OperationId> {
    let history = &stored.round.history;
    history.ids().find(|id| {
        let operation = history.operation(*id);
        let own = history.threads[id.thread as usize].client == row.thread;
        own && (operation.start..=operation.end).contains(&row.step)
    })
}

/// The partial linearizations, if the finding has none, or why there are none.
fn missing_partials(stored: &Stored, limits: &Limits) -> Result<Partials, NotShown> {
    let finding = &stored.finding;
    match (&finding.what, finding.model.parse()) {
        (Failure::Violation { operations, partials: None, .. }, Ok(model)) => {
            partials(&stored.round.history, &model, operations, limits)
        }
        _ => Err(NotShown::NoFailure),
    }
}
