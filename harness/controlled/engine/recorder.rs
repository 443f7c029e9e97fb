//! The schedule of a round, recorded as a list of switches that repeats it: every decision of the
//! policy comes in, those that an empty list would not make are kept. Draws and decides nothing.

use std::cell::Cell;

use interlap::schedule::{Spec, Switch, View, unprompted};
use interlap::trace::frame::Schedule;

use super::has_ended;

/// Switches of a round; one with more is not recorded.
const SWITCHES_MAX: usize = 1 << 16;

/// A decision, packed: whether it takes the turn from a thread that could go on, the thread (six
/// bits), the step.
#[derive(Clone, Copy)]
struct Entry(u64);

impl Entry {
    fn new(view: &View, next: usize) -> Entry {
        let could_go_on = view.runnable >> view.current & 1 != 0 && !view.yields;
        let preempts = could_go_on && next != view.current;
        Entry(view.step << 7 | (next as u64) << 1 | u64::from(preempts))
    }

    fn switch(self) -> Switch {
        Switch { step: self.0 >> 7, thread: (self.0 >> 1 & 63) as usize }
    }

    fn preempts(self) -> bool {
        self.0 & 1 != 0
    }
}

struct Recorder {
    active: Cell<bool>,
    entries: [Cell<Entry>; SWITCHES_MAX],
    len: Cell<usize>,
    /// So many are needed; those behind were made at the step under way and are as an empty list
    /// would have made them. A list that names one of a step's decisions must name those before
    /// it, or it would be taken for the first of them.
    needed: Cell<usize>,
    /// The step of the last decision.
    step: Cell<u64>,
}

// SAFETY: used like `super::Engine`: by the thread that runs under control, or by the one outside
// while none does.
unsafe impl Sync for Recorder {}

static RECORDER: Recorder = Recorder {
    active: Cell::new(false),
    entries: [const { Cell::new(Entry(0)) }; SWITCHES_MAX],
    len: Cell::new(0),
    needed: Cell::new(0),
    step: Cell::new(0),
};

/// A round begins.
pub(super) fn begin(records: bool) {
    RECORDER.active.set(records);
    RECORDER.len.set(0);
    RECORDER.needed.set(0);
    RECORDER.step.set(0);
}

/// The policy has chosen `next`.
#[inline]
pub(super) fn note(view: &View, next: usize) {
    if RECORDER.active.get() {
        record(view, next);
    }
}

#[cold]
fn record(view: &View, next: usize) {
    let r = &RECORDER;
    if r.step.replace(view.step) != view.step {
        r.len.set(r.needed.get());
        if has_ended(view.current) {
            // An end is no step of its own. The thread's last point may have had this one, without
            // the policy being asked: it stayed.
            push(Entry::new(view, view.current));
        }
    }
    push(Entry::new(view, next));
    if next != unprompted(view) {
        r.needed.set(r.len.get());
    }
}

fn push(entry: Entry) {
    let r = &RECORDER;
    let at = r.len.get();
    if at == SWITCHES_MAX {
        return r.active.set(false);
    }
    r.entries[at].set(entry);
    r.len.set(at + 1);
}

/// The schedule so far; none where none is recorded, or it became too long.
pub fn recorded() -> Option<Schedule> {
    let r = &RECORDER;
    let entries = || r.entries[..r.needed.get()].iter().map(Cell::get);
    let switches = entries().map(Entry::switch).collect();
    let preemptions = entries().filter(|entry| entry.preempts()).count() as u64;
    r.active.get().then(|| Schedule { list: Spec::List(switches).to_string(), preemptions })
}
