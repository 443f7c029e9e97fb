//! A recorded history, from a file of any format. The file's name and the user's options come in,
//! histories with what is needed to judge and show them go out.

use std::path::Path;

use anyhow::{Context, Result, anyhow};

use crate::check::{Verdict, Witness};
use crate::cli::arguments;
use crate::core::history::{History, Unit};
use crate::core::operation::Family;
use crate::exchange::values::{Interner, Value};
use crate::exchange::{self, Format, Options};
use crate::model::Spec;
use crate::trace::rounds;

/// Stamps from here on are instants of a clock, and shown from the first on; smaller ones as they
/// stand in the file.
const LARGE_STAMP: u64 = 1_000_000_000;

/// A history with what is needed to judge and show it.
pub struct Subject {
    /// The file, and in a trace the round.
    pub name: String,
    /// The number of the round; none where the file is not a trace.
    pub round: Option<u64>,
    pub history: History,
    /// None where no model is known that explains its operations.
    pub model: Option<Spec>,
    /// What integers in it stand for something else.
    pub strings: Interner,
    /// What was not read, and why.
    pub notes: Vec<String>,
    pub unit: Unit,
}

impl Subject {
    pub fn known_model(&self) -> Result<Spec> {
        let name = self.family().map_or("?", Family::name);
        self.model.ok_or_else(|| anyhow!("{}: no model explains operations of {name}", self.name))
    }

    pub fn family(&self) -> Option<Family> {
        self.history.ids().next().map(|id| self.history.operation(id).op.family())
    }

    /// The verdict in the file's own values.
    pub fn rendered(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Violation(witness) => {
                let explanation = self.strings.render(&witness.explanation);
                Verdict::Violation(Witness { explanation, ..witness })
            }
            Verdict::Inconclusive(reason) => Verdict::Inconclusive(self.strings.render(&reason)),
            Verdict::Consistent => Verdict::Consistent,
        }
    }
}

/// Every history in the file, and why the rest of it could not be used.
pub fn read(source: &arguments::Source) -> Result<(Vec<Subject>, Option<String>)> {
    let path = &source.file;
    let name = path.display().to_string();
    let located = |error: String| anyhow!("{name}: {error}");
    std::fs::metadata(path).with_context(|| format!("cannot read {name}"))?;
    let format = match source.format {
        Some(format) => format,
        None => exchange::detect(path).map_err(located)?,
    };
    if format == Format::Trace {
        return trace(path, source.model);
    }
    let initial = source.initial.0.map(Value::Integer);
    let options = Options { model: source.model, initial };
    let imported = exchange::read(path, format, &options).map_err(located)?;
    let exchange::Imported { history, model, interner, notes } = imported;
    let last = history.ids().map(|id| history.operation(id).start).max();
    let is_absolute = last.is_none_or(|last| last < LARGE_STAMP);
    Ok((
        vec![Subject {
            name,
            round: None,
            history,
            model,
            strings: interner,
            notes,
            unit: Unit { factor: 1.0, name: "units of the file's stamps", is_absolute },
        }],
        None,
    ))
}

fn trace(path: &Path, model: Option<Spec>) -> Result<(Vec<Subject>, Option<String>)> {
    let name = path.display().to_string();
    let trace = rounds::read(path).with_context(|| name.clone())?;
    let hello = &trace.hello;
    let own = hello.plan.model.as_ref().unwrap_or(&hello.target.model);
    let model = model.map_or_else(|| own.parse().map_err(anyhow::Error::msg), Ok)?;
    let unit = hello.clock.shown();
    let subject = |round: rounds::Round| Subject {
        name: format!("{name}, round {}", round.start.round),
        round: Some(round.start.round),
        history: round.history,
        model: Some(model),
        strings: Interner::default(),
        notes: Vec::new(),
        unit,
    };
    Ok((trace.rounds.into_iter().map(subject).collect(), trace.truncated))
}
