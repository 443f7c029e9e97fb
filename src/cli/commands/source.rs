//! Reads recorded histories from a file of any format, for `interlap check` and `convert`.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use crate::cli::arguments;
use crate::core::history::{History, Unit};
use crate::core::interner::{Interner, Value};
use crate::core::operation::Family;
use crate::exchange::{self, Format, Imported, Options};
use crate::model::Spec;
use crate::model::program::{Calls, Running};
use crate::trace::kept::{Made, StoredRun};
use crate::trace::rounds;
use crate::view::checked::Named;

/// Larger stamps are instants of a clock and shown relative to the first one; smaller ones are
/// shown as they are.
const LARGE_STAMP: u64 = 1_000_000_000;

/// A history with what is needed to check and show it.
pub struct RecordedHistory {
    /// The file, and for a trace the round.
    pub name: String,
    /// The number of the round, for a trace.
    pub round: Option<u64>,
    pub history: History,
    /// None if no known model has its operations.
    pub model: Option<Spec>,
    /// The values that its integers stand for.
    pub strings: Interner,
    /// What was not read, and why, as text.
    pub notes: Vec<String>,
    pub unit: Unit,
    /// What was made of it by the run that keeps it in a store.
    pub stored: Option<Made>,
}

impl RecordedHistory {
    pub fn known_model(&self) -> Result<Spec> {
        let name = self.family().map_or("?", Family::name);
        self.model.ok_or_else(|| anyhow!("{}: no model explains operations of {name}", self.name))
    }

    pub fn family(&self) -> Option<Family> {
        self.history.ids().next().map(|id| self.history.operation(id).op.family())
    }

    pub fn named(&self) -> Named<'_> {
        let RecordedHistory { name, history, strings, unit, .. } = self;
        Named { name, history, strings, unit: *unit }
    }
}

/// A run's rounds in a store, each with what was made of it.
pub fn read_run(
    run: &StoredRun,
    source: &arguments::Source,
) -> Result<(Vec<RecordedHistory>, Option<String>)> {
    let name = source.file.join(&run.name).display().to_string();
    let (mut histories, truncated) = read_trace(&run.trace, &name, source.model.named()?)?;
    let known: HashMap<u64, Made> =
        run.judged.iter().map(|judged| (judged.round, judged.verdict)).collect();
    for recorded in &mut histories {
        recorded.stored = recorded.round.and_then(|round| known.get(&round).copied());
    }
    Ok((histories, truncated))
}

/// Every history in the file, and why the rest of it could not be read.
pub fn read(source: &arguments::Source) -> Result<(Vec<RecordedHistory>, Option<String>)> {
    read_copy(&source.file, source)
}

/// As [`read`], from another file, which holds what the one that is named has so far.
pub fn read_copy(
    path: &Path,
    source: &arguments::Source,
) -> Result<(Vec<RecordedHistory>, Option<String>)> {
    let (name, model) = (source.file.display().to_string(), source.model.named()?);
    let located = |error: String| anyhow!("{name}: {error}");
    std::fs::metadata(path).with_context(|| format!("cannot read {name}"))?;
    let format = match source.format {
        Some(format) => format,
        None => exchange::detect(path).map_err(located)?,
    };
    if format == Format::Trace {
        return read_trace(path, &name, model);
    }
    let initial = source.initial.0.map(Value::Integer);
    let options = Options { model, initial };
    let program = model.and_then(|model| model.program);
    let imported = match program.and_then(|program| Some((program, program.running()?))) {
        Some((program, running)) => {
            let calls = exchange::read_calls(path, format, program);
            own(&**running, calls, || exchange::read(path, format, &options), model)
        }
        None => exchange::read(path, format, &options),
    };
    let exchange::Imported { history, model, interner, notes } = imported.map_err(located)?;
    let last = history.ids().map(|id| history.operation(id).start).max();
    let is_absolute = last.is_none_or(|last| last < LARGE_STAMP);
    Ok((
        vec![RecordedHistory {
            name,
            round: None,
            history,
            model,
            strings: interner,
            notes,
            unit: Unit { factor: 1.0, name: "units of the file's stamps", is_absolute },
            stored: None,
        }],
        None,
    ))
}

/// The history as one of the operations of a user's model.
fn own(
    running: &dyn Running,
    calls: Option<Result<Calls, String>>,
    read: impl FnOnce() -> Result<Imported, String>,
    model: Option<Spec>,
) -> Result<Imported, String> {
    let (history, notes) = match calls {
        Some(calls) => (running.own(&calls?)?, Vec::new()),
        None => {
            let read = read()?;
            (running.own_history(&read.history, &read.interner)?, read.notes)
        }
    };
    let interner = history.own.as_ref().map(|own| own.strings.clone()).unwrap_or_default();
    Ok(Imported { history, model, interner, notes })
}

fn read_trace(
    path: &Path,
    name: &str,
    model: Option<Spec>,
) -> Result<(Vec<RecordedHistory>, Option<String>)> {
    let trace = rounds::read(path).with_context(|| name.to_string())?;
    let hello = &trace.hello;
    let own = hello.plan.model.as_ref().unwrap_or(&hello.target.model);
    let model = model.map_or_else(|| own.parse().map_err(anyhow::Error::msg), Ok)?;
    let unit = hello.clock.shown();
    let recorded = |round: rounds::Round| RecordedHistory {
        name: format!("{name}, round {}", round.start.round),
        round: Some(round.start.round),
        history: round.history,
        model: Some(model),
        strings: Interner::default(),
        notes: Vec::new(),
        unit,
        stored: None,
    };
    Ok((trace.rounds.into_iter().map(recorded).collect(), trace.truncated))
}
