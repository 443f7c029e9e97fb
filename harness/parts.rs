//! Long rounds in parts: after so many calls of each thread all of them meet, one sends what all
//! recorded, and they go on with the same structure, which it may have emptied. So the main program
//! judges a round while it goes on, and neither its records nor the structure grow without bounds.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};

use interlap::core::operation::{Family, Op};
use interlap::trace::area::Stage;
use interlap::trace::frame::{self, Frame, PART_CALLS, Pause, RoundStart};

use crate::drain::{TOLD_MAX, emptier, teller};
use crate::library::Role;
use crate::record::{Area, Pipe};
use crate::workload::{Shape, TRANSACTION_MAX};

/// A part of calls with many values has fewer of them.
const VALUES_PER_CALL: u64 = 8;

/// Values that may be added before the structure is emptied.
const ADDED_MAX: u64 = 1 << 20;

/// Where the threads of a long round meet.
pub struct Parts<'a> {
    start: RoundStart,
    /// Calls of each thread in each part.
    pub calls: u64,
    gate: Barrier,
    /// The thread that sends.
    speaker: u32,
    /// Whether it can empty the structure, too, or tell all that it holds, and after how many
    /// values it does.
    added_max: Option<u64>,
    /// Values added by when the structure was emptied.
    emptied: AtomicU64,
    outlet: Mutex<Outlet<'a>>,
}

struct Outlet<'a> {
    frames: &'a mut Vec<u8>,
    pipe: &'a mut Pipe,
    part: u64,
}

/// Calls of each thread in each part of the round; none: it comes as a whole.
pub fn calls_per_part(shape: &Shape) -> Option<u64> {
    let values = shape.values_per_call() as u64;
    let most = PART_CALLS / u64::from(shape.threads) / values.div_ceil(VALUES_PER_CALL);
    let long = !shape.sequential && shape.calls > most;
    long.then_some(most.max(1))
}

/// Calls that a thread may make beyond those of a part: a part ends where no transaction is under
/// way, after one that tells what the store holds.
pub fn calls_over(operations: &[(Op, Role)], shape: &Shape) -> u64 {
    let is_store = operations.iter().any(|(op, _)| op.family() == Family::Store);
    if is_store { 2 * TRANSACTION_MAX + shape.keys().min(TOLD_MAX) } else { 0 }
}

impl<'a> Parts<'a> {
    pub fn new(
        shape: &Shape,
        calls: u64,
        operations: &[(Op, Role)],
        frames: &'a mut Vec<u8>,
        pipe: &'a mut Pipe,
    ) -> Parts<'a> {
        // What order a stack is in is known only where it is empty, and in what order transactions
        // changed a key where it has been read.
        let is_stack = operations.iter().any(|(op, _)| *op == Op::Pop);
        let teller = teller(operations, shape);
        let emptier = teller.or_else(|| emptier(operations, shape.threads));
        let every_time = is_stack || teller.is_some();
        Parts {
            start: shape.start(),
            calls,
            gate: Barrier::new(shape.threads as usize),
            speaker: emptier.unwrap_or(0),
            added_max: emptier.map(|_| if every_time { 0 } else { ADDED_MAX }),
            emptied: AtomicU64::new(0),
            outlet: Mutex::new(Outlet { frames, pipe, part: 0 }),
        }
    }

    /// Called by every thread of the round between two parts, when all together have added `added`
    /// values; one of them may have to `empty` the structure, or tell what it holds.
    pub fn meet(&self, thread: u32, area: &Area, added: &AtomicU64, empty: impl FnOnce()) {
        self.gate.wait();
        if thread == self.speaker {
            let added = added.load(Ordering::Relaxed);
            let since = added - self.emptied.load(Ordering::Relaxed);
            if self.added_max.is_some_and(|most| since > most) {
                area.set_stage(Stage::Drain);
                empty();
                self.emptied.store(added, Ordering::Relaxed);
            }
            self.send(area, Stage::Calls);
        }
        self.gate.wait();
    }

    /// Sends what was recorded since the last part; no thread records now. Then all of them begin
    /// their records anew, in this stage.
    pub fn send(&self, area: &Area, next: Stage) {
        let mut outlet = self.outlet.lock().expect("no thread panics holding it");
        let Outlet { frames, pipe, part } = &mut *outlet;
        area.set_stage(Stage::Pause);
        let sent = self.write(area, frames, pipe, *part);
        sent.expect("the main program takes what was recorded");
        *part += 1;
        area.begin_part(*part);
        area.set_stage(next);
    }

    fn write(
        &self,
        area: &Area,
        frames: &mut Vec<u8>,
        pipe: &mut Pipe,
        part: u64,
    ) -> io::Result<()> {
        if part == 0 {
            frame::write(frames, &Frame::Round(self.start.clone()))?;
        }
        area.copy_records(frames, pipe)?;
        frame::write(frames, &Frame::Pause(Pause { round: self.start.round, part }))?;
        pipe.write(frames)
    }
}
