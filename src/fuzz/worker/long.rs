//! Long rounds, which come in parts: each part is judged when it comes, and the round is over for
//! us with the first return that no order explains. Knows no other rounds.

use anyhow::{Context, Result};

use super::{Note, Worker, calls_per_second};
use crate::check::{self, Limits, Verdict};
use crate::core::history::History;
use crate::finding::Finding;
use crate::fuzz::online_round::{OnlineResult, OnlineRound};
use crate::process::fault::Fault;
use crate::process::supervise::{Event, Harness};
use crate::trace::frame::{RoundEnd, RoundStart};
use crate::trace::rounds::{Part, Round};

/// How many times as much the check of a part may spend as that of another round.
const PART_STEPS: u64 = 8;

impl Worker<'_> {
    /// Takes a part of a long round; true if the rest of it is not needed any more.
    pub(super) fn part(&mut self, part: Part, harness: &Harness) -> Result<bool> {
        let (hello, model) = self.hello.as_ref().context("a harness says hello first")?;
        let (end, first) = (part.end.clone(), part.number == 0);
        let rate = calls_per_second(&part.start, &part.history, hello);
        let model = *model;
        self.tally.calls_per_second_max = self.tally.calls_per_second_max.max(rate);
        if self.options.trace.is_some() {
            self.tell(Note::Part(Box::new(part.clone())));
        }
        let watch = match self.watch.take() {
            Some(watch) if !first => watch,
            _ => OnlineRound::new(part.start.clone(), model, self.limits_of_parts()),
        };
        let before = watch.overlap;
        let mut counter = self.tally.counter.take().unwrap_or_default();
        let (watch, found, counter) = self.aside(move || {
            let RoundStart { round, threads, .. } = part.start;
            if part.number == 0 {
                counter.begin(round, threads);
            }
            counter.add(round, threads, &part.history);
            let mut watch = watch;
            let found = watch.take(part);
            (watch, found, counter)
        });
        self.tally.counter = Some(counter);
        self.tally.overlap.operations += watch.overlap.operations - before.operations;
        self.tally.overlap.overlapping += watch.overlap.overlapping - before.overlapping;
        if !found && end.is_none() {
            self.watch = Some(watch);
            return Ok(false);
        }
        let start = watch.start.clone();
        let drained = end.as_ref().is_some_and(|end| end.drained);
        if end.is_none() {
            self.end_trace(&watch, History::default());
        }
        let watched = self.aside(move || watch.finish(drained));
        self.watched(start, watched, harness.output());
        Ok(found && end.is_none())
    }

    /// A part is as long as a long round elsewhere.
    fn limits_of_parts(&self) -> Limits {
        let limits = self.limits();
        Limits { steps_max: limits.steps_max.saturating_mul(PART_STEPS), ..limits }
    }

    /// No more is wanted while a long round may be under way: takes what there is of it.
    pub(super) fn cut(&mut self, harness: &mut Harness) -> Result<()> {
        if self.watch.is_none() {
            return Ok(());
        }
        harness.put_down()?;
        loop {
            match harness.next_event()? {
                Event::Part(part) => drop(self.part(*part, harness)?),
                Event::Quiet => {}
                Event::Fault(fault) => {
                    if let Some(watch) = self.watch.take() {
                        let start = watch.start.clone();
                        let watched = self.end(watch, &fault);
                        self.watched(start, watched, fault.output);
                    }
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    /// Judges a long round that a fault ended. The fault's history becomes what is held of it.
    pub(super) fn end_by_fault(
        &mut self,
        watch: OnlineRound,
        fault: &mut Fault,
    ) -> (Verdict, Option<String>) {
        let OnlineResult { verdict, history, note } = self.end(watch, fault);
        fault.history = history;
        (verdict, note)
    }

    /// Ends a long round with what its harness left in the record area.
    fn end(&mut self, watch: OnlineRound, fault: &Fault) -> OnlineResult {
        let rest = rest_of(&watch, fault).cloned();
        let overlap = rest.as_ref().map(check::overlap).unwrap_or_default();
        self.tally.overlap.operations += overlap.operations;
        self.tally.overlap.overlapping += overlap.overlapping;
        self.end_trace(&watch, rest.clone().unwrap_or_default());
        self.aside(move || watch.end(rest))
    }

    /// Takes note of what became of a long round.
    fn watched(&mut self, start: RoundStart, watched: OnlineResult, output: String) {
        let OnlineResult { verdict, history, note } = watched;
        self.tally.rounds += 1;
        let Some((_, model)) = &self.hello else { return };
        let mut witness = match verdict {
            Verdict::Consistent => return,
            Verdict::Inconclusive(reason) => {
                *self.tally.inconclusive.entry(reason).or_default() += 1;
                return;
            }
            Verdict::Violation(witness) => witness,
        };
        self.tally.violations += 1;
        witness.explanation += note.as_deref().unwrap_or_default();
        let (plan, model) = (&self.options.plan, model.to_string());
        let finding = Finding::violation(&witness, &history, plan, &model);
        let end =
            RoundEnd { round: start.round, drained: history.drained, fault: None, steps: None };
        self.seen(finding, Round { start, history, end }, output, false);
    }

    /// Ends a long round in the trace, where one is wanted: nothing follows these calls.
    fn end_trace(&mut self, watch: &OnlineRound, history: History) {
        if self.options.trace.is_none() {
            return;
        }
        let fault = Some("ended before its time; all that was called is here".to_string());
        let end = RoundEnd { round: watch.start.round, drained: false, fault, steps: None };
        let (start, number) = (watch.start.clone(), watch.parts);
        let part = Part { start, number, history, end: Some(end) };
        self.tell(Note::Part(Box::new(part)));
    }

    /// Does something where rounds are judged.
    fn aside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        match &self.judge {
            Some(judge) => judge.run(work),
            None => work(),
        }
    }
}

/// What a fault left of a round after its last part: none if that cannot be known, or if it was
/// the records of that part, sent and not yet begun anew.
fn rest_of<'a>(watch: &OnlineRound, fault: &'a Fault) -> Option<&'a History> {
    let next = fault.round == watch.start.round && fault.part == watch.parts;
    (fault.complete && next).then_some(&fault.history)
}
