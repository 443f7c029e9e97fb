//! Checks long rounds part by part, and ends one with the first response that no order explains.

use anyhow::{Context, Result};

use super::checked::calls_per_second;
use super::{Message, Warning, Worker};
use crate::check::{self, Limits, Verdict};
use crate::core::history::History;
use crate::finding::{Circumstance, Finding};
use crate::fuzz::online_round::{OnlineResult, OnlineRound};
use crate::process::fault::Fault;
use crate::process::supervise::{Event, Harness};
use crate::trace::frame::{RoundEnd, RoundStart};
use crate::trace::kept::JudgedRound;
use crate::trace::rounds::{Part, Round};

/// The limit on steps for a part, as a multiple of that for a short round.
const PART_STEPS: u64 = 8;

impl Worker<'_> {
    /// Checks the next part of a long round. Returns whether the rest of the round is not needed.
    pub(super) fn check_part(&mut self, part: Part, harness: &Harness) -> Result<bool> {
        let (hello, model) = self.hello.as_ref().context("a harness says hello first")?;
        let (end, first) = (part.end.clone(), part.number == 0);
        let rate = calls_per_second(&part.start, &part.history, hello);
        let model = *model;
        self.counts.calls_per_second_max = self.counts.calls_per_second_max.max(rate);
        if self.keeps(part.start.round) {
            self.send(Message::Part(Box::new(part.clone())));
        }
        let mut online = match self.long_round.take() {
            Some(online) if !first => online,
            _ => OnlineRound::new(part.start.clone(), model, self.limits_of_parts()),
        };
        let before = online.overlap;
        let mut counter = self.counts.counter.take().unwrap_or_default();
        let start = part.start.clone();
        let checked = self.run_check(move || {
            let RoundStart { round, threads, .. } = part.start;
            if part.number == 0 {
                counter.begin(round, threads);
            }
            counter.add(round, threads, &part.history);
            let found = online.take(part);
            (online, found, counter)
        });
        let Some((online, found, counter)) = checked else {
            self.send_result(start, OnlineResult::late(), harness.output());
            return Ok(true);
        };
        self.counts.counter = Some(counter);
        self.counts.overlap.operations += online.overlap.operations - before.operations;
        self.counts.overlap.overlapping += online.overlap.overlapping - before.overlapping;
        if !found && end.is_none() {
            self.long_round = Some(online);
            return Ok(false);
        }
        let drained = end.as_ref().is_some_and(|end| end.drained);
        if end.is_none() {
            self.end_trace(&online, History::default());
        }
        let result = self.run_check(move || online.finish(drained));
        self.send_result(start, result.unwrap_or_else(OnlineResult::late), harness.output());
        Ok(found && end.is_none())
    }

    /// A part has as many calls as the longest rounds that come as a whole.
    fn limits_of_parts(&self) -> Limits {
        let limits = self.limits();
        Limits { steps_max: limits.steps_max.saturating_mul(PART_STEPS), ..limits }
    }

    /// Ends the harness, and the check of its current long round with the calls made so far.
    pub(super) fn end_long_round(&mut self, harness: &mut Harness) -> Result<()> {
        if self.long_round.is_none() {
            return Ok(());
        }
        harness.kill()?;
        loop {
            match harness.next_event()? {
                Event::Part(part) => drop(self.check_part(*part, harness)?),
                Event::Quiet => {}
                Event::Fault(fault) => {
                    if let Some(online) = self.long_round.take() {
                        let start = online.start.clone();
                        let result = self.end(online, &fault);
                        self.send_result(start, result, fault.output);
                    }
                    return Ok(());
                }
                _ => return Ok(()),
            }
        }
    }

    /// Checks a long round that a fault ended. The fault gets the pruned history of the round.
    pub(super) fn end_by_fault(
        &mut self,
        online: OnlineRound,
        fault: &mut Fault,
    ) -> (Verdict, Option<Circumstance>) {
        let OnlineResult { verdict, history, circumstance, .. } = self.end(online, fault);
        fault.history = history;
        (verdict, circumstance)
    }

    /// Ends a long round with the calls that its harness left in the record area.
    fn end(&mut self, online: OnlineRound, fault: &Fault) -> OnlineResult {
        let rest = rest_of(&online, fault).cloned();
        let overlap = rest.as_ref().map(check::overlap).unwrap_or_default();
        self.counts.overlap.operations += overlap.operations;
        self.counts.overlap.overlapping += overlap.overlapping;
        self.end_trace(&online, rest.clone().unwrap_or_default());
        self.run_check(move || online.end(rest)).unwrap_or_else(OnlineResult::late)
    }

    /// Counts a long round, and sends its violation.
    fn send_result(&mut self, start: RoundStart, result: OnlineResult, output: String) {
        self.counts.count_round(start.sequential);
        let judged = JudgedRound::new(&start, result.returned as usize, &result.verdict);
        self.keep_judged(judged, None);
        if let Some(unjudged) = result.unjudged() {
            let (round, explained) = (start.round, result.explained);
            self.send(Message::Warning(Warning::Unjudged { round, explained, unjudged }));
            return;
        }
        let OnlineResult { verdict, history, circumstance, .. } = result;
        let Some((_, model)) = &self.hello else { return };
        let witness = match verdict {
            Verdict::Consistent => return,
            Verdict::Inconclusive(reason) => {
                self.counts.count_undecided(start.sequential, reason);
                return;
            }
            Verdict::Violation(witness) => witness,
        };
        self.counts.violations += 1;
        let (plan, model) = (&self.options.plan, model.to_string());
        let finding = Finding::violation(&witness, circumstance, &history, plan, &model);
        let end = RoundEnd::new(start.round, history.drained);
        self.send_sighting(finding, Round { start, history, end }, output, false);
    }

    /// Ends a long round in the trace, if the run keeps one, with these last calls.
    fn end_trace(&mut self, online: &OnlineRound, history: History) {
        if !self.keeps(online.start.round) {
            return;
        }
        let fault = Some("ended before its time; all that was called is here".to_string());
        let end = RoundEnd { fault, ..RoundEnd::new(online.start.round, false) };
        let (start, number) = (online.start.clone(), online.parts);
        let part = Part { start, number, history, end: Some(end) };
        self.send(Message::Part(Box::new(part)));
    }

    /// Does some work on the check thread, if there is one; none if it is not done in time.
    pub(super) fn run_check<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        match &self.check_thread {
            Some(thread) => thread.run(self.options.time.end_of_grace(), work),
            None => Some(work()),
        }
    }
}

/// The calls after the last part that was sent; none if records are missing, or if the record area
/// still holds that part.
fn rest_of<'a>(online: &OnlineRound, fault: &'a Fault) -> Option<&'a History> {
    let next = fault.round == online.start.round && fault.part == online.parts;
    (fault.complete && next).then_some(&fault.history)
}
