//! Checks a long round while it runs, part by part.
//! A violation is reported as soon as the part with the first response that no order explains has
//! arrived. The history is pruned between parts (see [`check::Online`]).

use std::collections::HashSet;

use crate::check::{self, Events, Exhausted, Limits, Online, Overlap, Undecided, Verdict};
use crate::core::history::{History, Thread};
use crate::core::operation::Status;
use crate::finding::Circumstance;
use crate::model::Spec;
use crate::trace::frame::RoundStart;
use crate::trace::rounds::Part;

/// The online check of a round.
pub struct OnlineRound {
    pub start: RoundStart,
    /// Parts checked so far.
    pub parts: u64,
    pub overlap: Overlap,
    online: Online,
    /// The error if the calls were out of order, which no recorded history is.
    error: Option<String>,
}

/// The result of the check.
pub struct OnlineResult {
    pub verdict: Verdict,
    /// The history of the witness: all operations that were not pruned.
    pub history: History,
    /// That operations were pruned, if there were any.
    pub circumstance: Option<Circumstance>,
    /// Calls that returned, and the first of these that some order is known to explain.
    pub returned: u64,
    pub explained: u64,
}

impl OnlineResult {
    /// Of a check that was not done in time.
    pub fn late() -> OnlineResult {
        OnlineResult {
            verdict: Verdict::Inconclusive(Exhausted::Deadline.into()),
            history: History::default(),
            circumstance: None,
            returned: 0,
            explained: 0,
        }
    }

    /// The last calls, which the time did not suffice to judge, where an order explains all before
    /// them and those are more. Otherwise the round is not decided.
    pub fn unjudged(&self) -> Option<u64> {
        let late = self.verdict == Verdict::Inconclusive(Exhausted::Deadline.into());
        let unjudged = self.returned.saturating_sub(self.explained);
        (late && unjudged > 0 && unjudged < self.explained).then_some(unjudged)
    }
}

impl OnlineRound {
    pub fn new(start: RoundStart, spec: Spec, limits: Limits) -> OnlineRound {
        let online = Online::new(spec, limits).at_rest();
        OnlineRound { start, parts: 0, overlap: Overlap::default(), online, error: None }
    }

    /// Checks the next part. Returns whether a violation was found so far.
    pub fn take(&mut self, part: Part) -> bool {
        self.parts += 1;
        self.add(part.history)
    }

    fn add(&mut self, history: History) -> bool {
        let Overlap { operations, overlapping } = check::overlap(&history);
        self.overlap.operations += operations;
        self.overlap.overlapping += overlapping;
        if self.error.is_none() {
            self.error = feed(&mut self.online, history).err().map(|misfit| misfit.to_string());
        }
        self.online.look_at_rest().is_some()
    }

    /// The result at the end of the round; `drained` as in a [`History`].
    pub fn finish(mut self, drained: bool) -> OnlineResult {
        if let Some(error) = self.error {
            let (verdict, history) =
                (Verdict::Inconclusive(Undecided::OutOfOrder(error)), History::default());
            let (returned, explained) = (self.online.returned(), 0);
            return OnlineResult { verdict, history, circumstance: None, returned, explained };
        }
        self.online.look_at_rest();
        let (returned, explained) = (self.online.returned(), self.online.explained());
        let (verdict, history) = self.online.finish(drained);
        let circumstance = pruned(&history, returned);
        OnlineResult { verdict, history, circumstance, returned, explained }
    }

    /// The result of a round that ended early. `rest` has the calls after the last part, if they
    /// are known; calls without a response are pending.
    pub fn end(mut self, rest: Option<History>) -> OnlineResult {
        if let Some(rest) = rest {
            self.add(rest);
        }
        self.finish(false)
    }
}

/// How many of the `returned` calls were pruned, if any.
fn pruned(history: &History, returned: u64) -> Option<Circumstance> {
    let held = history.threads.iter().flat_map(|thread| thread.operations());
    let held = held.filter(|operation| operation.status != Status::Pending).count() as u64;
    let pruned = returned.saturating_sub(held);
    (pruned > 0).then_some(Circumstance::Pruned { returned, pruned })
}

/// Passes invocations and responses to `online` in their order. A call of unknown outcome gets its
/// response when its client continues, or at the end of the part.
fn feed(online: &mut Online, history: History) -> Result<(), crate::core::history::Misfit> {
    if !history.threads.iter().any(Thread::is_retired) {
        return online.append(history);
    }
    let (mut unknown, mut last) = (HashSet::new(), 0);
    for event in Events::new(&history) {
        let client = history.threads[event.id.thread as usize].client;
        let entry = history.entry(event.id);
        last = event.time;
        if event.returns {
            online.answer(client, entry.status, entry.results, event.time)?;
            continue;
        }
        if unknown.remove(&client) {
            online.answer(client, Status::Unknown, &[], event.time)?;
        }
        online.call(client, entry.op, entry.args, event.time)?;
        if entry.status == Status::Unknown {
            unknown.insert(client);
        }
    }
    for client in unknown {
        online.answer(client, Status::Unknown, &[], last)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_explained_before_the_time_was_over_counts() {
        let result = |why: Exhausted, explained| OnlineResult {
            verdict: Verdict::Inconclusive(why.into()),
            history: History::default(),
            circumstance: None,
            returned: 100,
            explained,
        };
        assert_eq!(result(Exhausted::Deadline, 70).unjudged(), Some(30));
        // Half was not looked at, or the end of all is what was not decided.
        assert_eq!(result(Exhausted::Deadline, 50).unjudged(), None);
        assert_eq!(result(Exhausted::Deadline, 100).unjudged(), None);
        assert_eq!(result(Exhausted::Steps(9), 70).unjudged(), None);
    }
}
