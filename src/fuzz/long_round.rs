//! A long round, judged while it goes on. Its parts come in; the first return that no order
//! explains goes out, as soon as the part that has it is here; and in the end the verdict, with a
//! history that shows it. Knows nothing of processes and findings.
//!
//! What a part leaves behind is all that is held of it (see [`check::Online`]).

use std::collections::HashSet;

use crate::check::{self, Events, Limits, Online, Overlap, Verdict};
use crate::core::history::{History, Thread};
use crate::core::operation::Status;
use crate::model::{Kind, Spec};
use crate::trace::frame::RoundStart;
use crate::trace::rounds::Part;

/// A round under watch.
pub struct Watch {
    pub start: RoundStart,
    /// Parts that were taken.
    pub parts: u64,
    pub overlap: Overlap,
    online: Online,
    /// What has no order, which no recorded history has.
    trouble: Option<String>,
    /// What stands for calls that were left out.
    stand: &'static str,
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
        let online = Online::new(spec, limits).at_rest();
        let stand = match spec.kind {
            Kind::Snapshot | Kind::Serializable => "a transaction that wrote the same stands there",
            _ => "one of them stands there as a call that would have left the same",
        };
        Watch { start, parts: 0, overlap: Overlap::default(), online, trouble: None, stand }
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
        if self.trouble.is_none() {
            self.trouble = feed(&mut self.online, history).err().map(|misfit| misfit.to_string());
        }
        self.online.look_at_rest().is_some()
    }

    /// The round is over, `drained` as of a [`History`].
    pub fn finish(mut self, drained: bool) -> Watched {
        if let Some(trouble) = self.trouble {
            let (verdict, history) = (Verdict::Inconclusive(trouble), History::default());
            return Watched { verdict, history, note: None };
        }
        self.online.look_at_rest();
        let returned = self.online.returned();
        let (verdict, history) = self.online.finish(drained);
        let note = note(&history, returned, self.stand);
        Watched { verdict, history, note }
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

/// Says what was left out of the `returned` calls that were seen.
fn note(history: &History, returned: u64, stand: &str) -> Option<String> {
    let held = history.threads.iter().flat_map(|thread| thread.operations());
    let held = held.filter(|operation| operation.status != Status::Pending).count() as u64;
    let left_out = returned.saturating_sub(held);
    (left_out > 0).then(|| {
        format!(
            " The round was judged while it went on: of its first {returned} calls {left_out} are \
             left out of this history: they are explained, and only what they left behind matters. \
             Where no call shows that, {stand}."
        )
    })
}

/// Tells `online` of calls and returns in their order. A call of unknown outcome returns, for it,
/// when its client goes on, or the part ends.
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
