//! Chooses the checker for a history: by the kind of its model, the exact one first, the general
//! search for what that leaves.

use std::fmt::Debug;

use super::data::scope::{is_stream, refuse};
use super::data::values::{AddedTwice, Values};
use super::exact::removals::Broken;
use super::exact::{
    counter, deque, fifo, lifo, log, per_producer, priority, ranges, relaxed, removals, set,
};
use super::search::{history as search, journal, keyed};
use super::transactions;
use super::verdict::{Explains, Limits, Verdict, Witness};
use crate::history::History;
use crate::journal::Journal;
use crate::model::{Bulk, Kind, Model, Spec};

impl Explains<History> for Spec {
    fn verdict(&self, history: &History, limits: &Limits) -> Verdict {
        by_name(history, self, limits)
    }
}

impl<O: Clone + Debug + Sync, M: Model<O> + Sync> Explains<Journal<O>> for M {
    fn verdict(&self, journal: &Journal<O>, limits: &Limits) -> Verdict {
        journal::check(journal, self, limits)
    }
}

/// Decides whether `model` explains `history`: a bundled model, named by a [`Spec`], a [`History`];
/// a [`Model`] of the user's a [`Journal`] of its operations.
pub fn check<H: ?Sized, E: Explains<H>>(history: &H, model: &E, limits: &Limits) -> Verdict {
    model.verdict(history, limits)
}

fn by_name(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    if let Some(refusal) = refuse(history, spec) {
        return Verdict::Inconclusive(refusal);
    }
    match spec.kind {
        Kind::Set => set::check(history),
        Kind::Map | Kind::Register | Kind::Kv => keyed::check(history, spec, limits),
        Kind::Counter => match counter::amount(history) {
            Some(amount) => verdict(counter::judge(history, amount)),
            None => search::check(history, spec, None, limits),
        },
        Kind::Log if !is_stream(history, spec) && log::is_exact(history) => {
            verdict(log::judge(history))
        }
        Kind::RangeSet => ranges::check(history, limits),
        Kind::Snapshot | Kind::Serializable => transactions::check(history, spec, limits),
        Kind::Log => search::check(history, spec, None, limits),
        _ => match container(history, spec, limits) {
            Verdict::Violation(witness) => {
                Verdict::Violation(search::shorter(history, spec, witness))
            }
            verdict => verdict,
        },
    }
}

fn verdict(judged: Result<(), Witness>) -> Verdict {
    judged.map_or_else(Verdict::Violation, |()| Verdict::Consistent)
}

/// Decides any history by the general search alone, for comparison; `check` resorts to it itself.
/// Of `empty=count` and `bulk=run`, which are not about orders, it sees only what they imply.
pub fn by_search(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    match refuse(history, spec) {
        Some(refusal) => Verdict::Inconclusive(refusal),
        None if matches!(spec.kind, Kind::Snapshot | Kind::Serializable) => {
            transactions::check(history, spec, limits)
        }
        None => search::check(history, spec, Values::of(history).ok().as_ref(), limits),
    }
}

/// Queues of all kinds, stack and deque: the specialised checker first, the general search for what
/// it leaves.
fn container(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    if spec.kind == Kind::PriorityQueue {
        let search = || search::check(history, spec, Values::of(history).ok().as_ref(), limits);
        return match priority::judge(history, spec) {
            Ok(judged) => settled(history, spec, judged).unwrap_or_else(search),
            Err(AddedTwice) => search(),
        };
    }
    let Ok(values) = Values::of(history) else {
        return search::check(history, spec, None, limits);
    };
    let judged = match spec.kind {
        Kind::Fifo | Kind::Pool => fifo::judge(history, spec, &values),
        Kind::FifoPerProducer => per_producer::judge(history, spec, &values),
        Kind::FifoRelaxed => relaxed::judge(history, spec, &values),
        Kind::Lifo => lifo::judge(history, spec, &values),
        _ => removals::judge(history, &values),
    };
    let search = || search::check(history, spec, Some(&values), limits);
    settled(history, spec, judged).unwrap_or_else(|| match spec.kind {
        Kind::Deque => deque::check(history, spec, &values, limits).unwrap_or_else(search),
        Kind::FifoRelaxed => match search() {
            Verdict::Inconclusive(why) => Verdict::Inconclusive(format!(
                "no value overtook {} others for certain, and no other rule is broken; whether \
                 some order explains all answers only a search can tell, and {why}",
                spec.k
            )),
            verdict => verdict,
        },
        _ => search(),
    })
}

/// What a specialised checker found, if that settles it.
fn settled(history: &History, spec: &Spec, judged: Result<(), Broken>) -> Option<Verdict> {
    match judged {
        // A call that may never have happened is no excuse where none is needed to explain the
        // rest: an explanation without it is an explanation.
        Ok(()) if exact(history, spec) => Some(Verdict::Consistent),
        Err(Broken { witness, excusable }) if !excusable || !removals::any_open(history) => {
            Some(Verdict::Violation(witness))
        }
        _ => None,
    }
}

/// Whether the specialised checker's rules are sufficient as well as necessary.
fn exact(history: &History, spec: &Spec) -> bool {
    match spec.kind {
        Kind::Lifo | Kind::PriorityQueue => true,
        Kind::FifoPerProducer => spec.bulk != Bulk::Atomic || !removals::any_bulk(history),
        Kind::Fifo | Kind::Pool => !removals::any_bulk(history),
        _ => false,
    }
}
