//! Records the schedule of a round, as a list of switches and as a list of turns: either repeats
//! it. Keeps only the policy's decisions that an empty list would not make.

use std::cell::{Cell, UnsafeCell};

use interlap::schedule::{Position, Spec, Switch, Turn, View, YieldCounts, default_choice};
use interlap::trace::frame::Schedule;

use super::variables::has_ended;

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
    /// So many entries are needed. Those behind were made at the current step, as an empty list
    /// would make them. A list that names one of a step's decisions must name those before it, or
    /// it would be taken for the first of them.
    needed: Cell<usize>,
    /// The step of the last decision.
    step: Cell<u64>,
    turns: [Cell<Turn>; SWITCHES_MAX],
    turn_count: Cell<usize>,
    yield_counts: UnsafeCell<YieldCounts>,
}

// SAFETY: used like the engine's variables: by the thread that runs under control, or by the one
// outside while none does.
unsafe impl Sync for Recorder {}

static RECORDER: Recorder = Recorder {
    active: Cell::new(false),
    entries: [const { Cell::new(Entry(0)) }; SWITCHES_MAX],
    len: Cell::new(0),
    needed: Cell::new(0),
    step: Cell::new(0),
    turns: [const { Cell::new(NO_TURN) }; SWITCHES_MAX],
    turn_count: Cell::new(0),
    yield_counts: UnsafeCell::new(YieldCounts::NONE),
};

const NO_TURN: Turn = Turn {
    thread: 0,
    position: Position { call: 0, steps: 0, repeats: 0 },
    gives_way: false,
    to: 0,
};

/// A round begins.
pub(super) fn begin(records: bool) {
    RECORDER.active.set(records);
    RECORDER.len.set(0);
    RECORDER.needed.set(0);
    RECORDER.step.set(0);
    RECORDER.turn_count.set(0);
    // SAFETY: as `Recorder` is used, nobody else uses it now.
    unsafe { *RECORDER.yield_counts.get() = YieldCounts::NONE };
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
            // The end of a thread is no step of its own. At its last point, which may have had this
            // step, the thread went on without the policy being asked.
            push(Entry::new(view, view.current));
        }
    }
    push(Entry::new(view, next));
    // SAFETY: as above.
    let position = unsafe { &mut *r.yield_counts.get() }.position(view);
    if next != default_choice(view) && r.active.get() {
        r.needed.set(r.len.get());
        // There are at least as many entries.
        r.turns[r.turn_count.get()].set(Turn::new(view, position, next));
        r.turn_count.set(r.turn_count.get() + 1);
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

/// The schedule so far; none where it is not recorded, or became too long.
pub fn recorded() -> Option<Schedule> {
    let r = &RECORDER;
    let entries = || r.entries[..r.needed.get()].iter().map(Cell::get);
    let switches = entries().map(Entry::switch).collect();
    let preemptions = entries().filter(|entry| entry.preempts()).count() as u64;
    let turns = r.turns[..r.turn_count.get()].iter().map(Cell::get).collect();
    r.active.get().then(|| Schedule {
        list: Spec::List(switches).to_string(),
        turns: Spec::Turns(turns).to_string(),
        preemptions,
    })
}
