//! A long round, judged while it goes on. Its parts come in; the first return that no order
//! explains goes out, as soon as the part that has it is here; and in the end the verdict, with a
//! history that shows it. Knows nothing of processes and findings.
//!
//! What a part leaves behind is all that is held of it (see [`check::Online`]); where nothing can
//! be left out, as of transactions, the round is kept, and judged when it is over.

use std::collections::HashSet;

use crate::check::{self, Events, Limits, Online, Overlap, Verdict};
use crate::history::{History, Thread};
use crate::model::{Kind, Spec};
use crate::operation::Status;
use crate::trace::frame::RoundStart;
use crate::trace::rounds::Part;

/// Most calls of a round that is kept as a whole: 2 GiB.
const WHOLE_MAX: usize = 1 << 26;

/// A round under watch.
pub struct Watch {
    pub start: RoundStart,
    /// Parts that were taken.
    pub parts: u64,
    pub overlap: Overlap,
    calls: Calls,
    spec: Spec,
    limits: Limits,
}

enum Calls {
    /// Judged as they come. With what has no order, which no recorded history has.
    Judged(Box<Online>, Option<String>),
    /// Kept; none once there are too many.
    Kept(Option<History>),
}

/// What became of a round.
pub struct Watched {
    pub verdict: Verdict,
    /// What the witness is of: all that was not left out.
    pub history: History,
    /// Of a history in which something was left out: a sentence that says so.
    pub note: Option<String>,
}

impl Watch {
    pub fn new(start: RoundStart, spec: Spec, limits: Limits) -> Watch {
        let calls = match spec.kind {
            Kind::Snapshot | Kind::Serializable => Calls::Kept(Some(History::default())),
            _ => Calls::Judged(Box::new(Online::new(spec, limits.clone()).at_rest()), None),
        };
        Watch { start, parts: 0, overlap: Overlap::default(), calls, spec, limits }
    }

    /// Takes the next part; true once no order explains what was seen.
    pub fn take(&mut self, part: Part) -> bool {
        self.parts += 1;
        self.add(part.history)
    }

    fn add(&mut self, history: History) -> bool {
        let Overlap { operations, overlapping } = check::overlap(&history);
        self.overlap.operations += operations;
        self.overlap.overlapping += overlapping;
        match &mut self.calls {
            Calls::Judged(online, trouble) => {
                if trouble.is_none() {
                    *trouble = feed(online, history).err().map(|misfit| misfit.to_string());
                }
                online.look_at_rest().is_some()
            }
            Calls::Kept(kept) => {
                let fits = kept.as_ref().is_some_and(|all| all.len() + history.len() <= WHOLE_MAX);
                if let Some(all) = kept.as_mut().filter(|_| fits) {
                    all.append(history).expect("the parts of a round follow each other");
                } else {
                    *kept = None;
                }
                false
            }
        }
    }

    /// The round is over, `drained` as of a [`History`].
    pub fn finish(self, drained: bool) -> Watched {
        match self.calls {
            Calls::Judged(_, Some(trouble)) => undecided(trouble),
            Calls::Judged(mut online, None) => {
                online.look_at_rest();
                let returned = online.returned();
                let (verdict, history) = online.finish(drained);
                let note = note(&history, returned);
                Watched { verdict, history, note }
            }
            Calls::Kept(Some(mut history)) => {
                history.drained = drained;
                let verdict = check::check(&history, &self.spec, &self.limits);
                Watched { verdict, history, note: None }
            }
            Calls::Kept(None) => undecided(format!(
                "model {} is judged when a round is over, and this one had more than {WHOLE_MAX} \
                 calls: fuzz with fewer --calls",
                self.spec.kind.name()
            )),
        }
    }

    /// The round ended before its time, with these calls after the last part, those under way
    /// pending; none if they are not known.
    pub fn end(mut self, rest: Option<History>) -> Watched {
        if let Some(rest) = rest {
            self.add(rest);
        }
        self.finish(false)
    }
}

fn undecided(why: String) -> Watched {
    let (verdict, history) = (Verdict::Inconclusive(why), History::default());
    Watched { verdict, history, note: None }
}

/// Says what was left out of the `returned` calls that were seen.
fn note(history: &History, returned: u64) -> Option<String> {
    let held = history.threads.iter().flat_map(|thread| thread.operations());
    let held = held.filter(|operation| operation.status != Status::Pending).count() as u64;
    let left_out = returned.saturating_sub(held);
    (left_out > 0).then(|| {
        format!(
            " The round was judged while it went on: of its first {returned} calls {left_out} are \
             left out of this history: they are explained, and only what they left behind matters. \
             Where no call shows that, one of them stands there as a call that would have left the \
             same."
        )
    })
}

/// Tells `online` of calls and returns in their order. A call of unknown outcome returns, for it,
/// when its client goes on, or the part ends.
fn feed(online: &mut Online, history: History) -> Result<(), crate::history::Misfit> {
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
