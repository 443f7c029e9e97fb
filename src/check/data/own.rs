//! Histories under a user's model: one in a program of its own is given a history of the model's
//! own operations.

use std::borrow::Cow;

use crate::check::undecided::Undecided;
use crate::core::history::History;
use crate::core::interner::Interner;
use crate::model::{Kind, Spec};

/// The history that is judged under `spec`, with the same ids of operations.
pub fn own<'h>(history: &'h History, spec: &Spec) -> Result<Cow<'h, History>, Undecided> {
    if spec.kind != Kind::Own || history.own.is_some() {
        return Ok(Cow::Borrowed(history));
    }
    if history.has_blocks() {
        return Err(Undecided::OrderUnknown);
    }
    let running = spec.program.and_then(|program| program.running());
    let running = running.ok_or(Undecided::NoModelProgram)?;
    let own = running.own_history(history, &Interner::default());
    own.map(Cow::Owned).map_err(Undecided::OfModelProgram)
}

/// Why what was decided under `spec` says nothing, if so.
pub fn failure(spec: &Spec) -> Option<Undecided> {
    let running = spec.program.and_then(|program| program.running())?;
    running.failure().map(Undecided::OfModelProgram)
}
