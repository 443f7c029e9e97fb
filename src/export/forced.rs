//! The orders that a program can force: a stored finding and the table of what its threads did come
//! in; scripts in turns go out, each with the points at which its threads may have to be stopped.
//! Which of them reproduce the finding is found out elsewhere.

use std::collections::HashSet;

use super::halts::{self, Files, Halt};
use super::program::Binding;
use super::script::{self, Script};
use super::{Draft, Material};
use crate::adapter::compile::Language;
use crate::core::plan::Heap;
use crate::finding;
use crate::finding::interleaving::{Action, Interleaving, Place, Row};
use crate::process::fault::FaultKind;
use crate::trace::frame::DetectedKind;

/// A script in turns, and for each of its stops the points that may be the right ones.
pub struct Forced {
    script: Script,
    options: Vec<Vec<Halt>>,
    reuses_memory: bool,
}

impl Forced {
    /// How many drafts there are.
    pub fn count(&self) -> usize {
        match self.is_possible() {
            true => 1 + self.options.iter().map(|options| options.len() - 1).sum::<usize>(),
            false => 0,
        }
    }

    fn is_possible(&self) -> bool {
        self.options.iter().all(|options| !options.is_empty())
    }

    /// The likeliest points first; then one of them is another, in turn.
    pub fn drafts<'a>(
        &'a self,
        material: &'a Material,
        binding: Binding,
    ) -> impl Iterator<Item = Draft> + 'a {
        let first: Vec<usize> = vec![0; self.options.len()];
        let others = self
            .options
            .iter()
            .enumerate()
            .flat_map(|(at, options)| (1..options.len()).map(move |choice| (at, choice)));
        let choices = std::iter::once(first.clone()).chain(others.map(move |(at, choice)| {
            let mut choices = first.clone();
            choices[at] = choice;
            choices
        }));
        let possible = self.is_possible();
        choices.filter(move |_| possible).map(move |choices| {
            let pairs = self.options.iter().zip(choices);
            let halts: Vec<Halt> = pairs.map(|(options, at)| options[at].clone()).collect();
            material.draft(&self.script, &halts, binding, self.reuses_memory)
        })
    }
}

/// Whether the calls followed each other: no two threads had a part in it.
pub fn is_in_order(material: &Material) -> bool {
    let (round, history) = (&material.stored.round.start, &material.stored.round.history);
    let callers = history.threads.iter().filter(|thread| thread.client < round.threads);
    round.sequential || callers.filter(|t| !t.operations().is_empty()).count() <= 1
}

/// What can be forced, the simplest first.
pub fn forced(material: &Material) -> Vec<Forced> {
    let stored = material.stored;
    let (round, history) = (&stored.round.start, &stored.round.history);
    if is_in_order(material) {
        let script = script::in_order(history, round.threads);
        return vec![Forced { script, options: Vec::new(), reuses_memory: false }];
    }
    let Some(table) = material.table else { return Vec::new() };
    // No order of statements keeps a store in a processor's buffer.
    if table.has_delays() {
        return Vec::new();
    }
    let matters: fn(&Row) -> bool = |row| row.matters;
    let all: fn(&Row) -> bool = |_| true;
    let free = free_from(stored, table);
    let mut found: Vec<Forced> = Vec::new();
    for reuses_memory in [false, true].into_iter().take(1 + usize::from(may_reuse(material, table)))
    {
        for (is_kept, free) in [matters, all].into_iter().flat_map(|kept| free.map(|at| (kept, at)))
        {
            let script = script::in_turns(history, table, round.threads, is_kept, free);
            let is_new =
                |other: &Forced| other.script != script || other.reuses_memory != reuses_memory;
            if !found.iter().all(is_new) {
                continue;
            }
            let mut files = Files::new(&material.source, &material.roots);
            let options = script.stops.iter().map(|stop| {
                let op = history.operation(stop.call).op.name();
                halts::options(stop, table, op, &mut files)
            });
            let options = options.collect();
            found.push(Forced { script, options, reuses_memory });
        }
    }
    found
}

/// Whether the bug may depend on freed memory being used again.
fn may_reuse(material: &Material, table: &Interleaving) -> bool {
    material.stored.finding.plan.control.heap != Heap::Keep
        && material.language == Language::Cpp
        && table.rows.iter().any(Row::frees)
        && !material.wants_sanitizer()
}

/// Of a livelock, the rows from which on threads do again what they did before: behind the last
/// change that is new, and behind the last row that is. None of all else.
fn free_from(stored: &finding::Stored, table: &Interleaving) -> [Option<usize>; 2] {
    let livelock = FaultKind::Detected(DetectedKind::Livelock);
    if !matches!(&stored.finding.what, finding::What::Fault { kind, .. } if *kind == livelock) {
        return [None; 2];
    }
    [behind_what_is_new(table, Action::sets), behind_what_is_new(table, |_| true)].map(Some)
}

/// Behind the last row that tells of something that its thread has not done before at this place.
fn behind_what_is_new(table: &Interleaving, counts: impl Fn(&Action) -> bool) -> usize {
    let mut known: HashSet<(u32, &Action, Option<&Place>)> = HashSet::new();
    let mut behind = 0;
    for (at, row) in table.rows.iter().enumerate() {
        if let Some(did) = row.action()
            && counts(did)
            && known.insert((row.thread, did, row.place()))
        {
            behind = at + 1;
        }
    }
    behind
}
