//! Histories under a user's model: one in a program of its own is given a history of the model's
//! own operations.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::check::data::witnesses::{UNEXPLAINED, UNEXPLAINED_IN_STEPS};
use crate::check::explanation::{Explanation, OfSearch, States};
use crate::check::search::history::unexplained;
use crate::check::undecided::{Exhausted, Undecided};
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::History;
use crate::core::interner::Interner;
use crate::model::program::{Before, Bounds, GaveUp, Judged, Within};
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

/// What the program of the model makes of the history, if one has the model: it need not be asked
/// about each step then.
pub fn judged(history: &History, spec: &Spec, limits: &Limits) -> Option<Verdict> {
    let running = spec.program.and_then(|program| program.running())?;
    let goes_on = || !is_cancelled(limits);
    let within = Within { bounds: bounds(limits), goes_on: &goes_on };
    Some(match running.judge(history, &within)? {
        Judged::Linearizable => Verdict::Consistent,
        Judged::Unexplained(failed, others, in_steps) => {
            let rule = if in_steps { UNEXPLAINED_IN_STEPS } else { UNEXPLAINED };
            Verdict::Violation(Witness { rule, ..unexplained(failed, others) })
        }
        Judged::NotEmpty(last, described, are_more) => {
            let states = States { described, are_more };
            let explanation = Explanation::Search(OfSearch::ModelNotEmpty(states));
            Verdict::Violation(Witness::new("lost", explanation, vec![last]))
        }
        Judged::GaveUp(why) => Verdict::Inconclusive(exhausted(why, limits).into()),
    })
}

/// What all before a time of the history leaves, as far as its program tells.
pub fn before(history: &History, time: u64, spec: &Spec, limits: &Limits) -> Option<Before> {
    let running = spec.program.and_then(|program| program.running())?;
    let goes_on = || !is_cancelled(limits);
    running.before(history, time, &Within { bounds: bounds(limits), goes_on: &goes_on })
}

fn bounds(limits: &Limits) -> Bounds {
    let left = limits.deadline.map(|end| end.saturating_duration_since(Instant::now()));
    Bounds {
        configurations: limits.configurations_max,
        steps: limits.steps_max,
        memory: limits.memory_max,
        jobs: limits.jobs,
        milliseconds: left.map(|left| left.as_millis() as u64),
    }
}

fn is_cancelled(limits: &Limits) -> bool {
    limits.cancelled.as_ref().is_some_and(|of| of.load(Ordering::Relaxed))
}

/// Which of `limits` a program has reached.
pub fn exhausted(why: GaveUp, limits: &Limits) -> Exhausted {
    match why {
        GaveUp::Open(most) => Exhausted::Open(most),
        GaveUp::Configurations => Exhausted::Configurations(limits.configurations_max),
        GaveUp::Steps => Exhausted::Steps(limits.steps_max),
        GaveUp::Memory => Exhausted::Memory(limits.memory_max),
        GaveUp::Time => Exhausted::Deadline,
    }
}

/// Why what was decided under `spec` says nothing, if so.
pub fn failure(spec: &Spec) -> Option<Undecided> {
    let running = spec.program.and_then(|program| program.running())?;
    running.failure().map(Undecided::OfModelProgram)
}
