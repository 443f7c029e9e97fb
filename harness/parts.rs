//! Long rounds in parts: after so many calls of each thread, all threads meet, one sends what all
//! recorded, and they go on with the same structure. So the main program can check a round while it
//! goes on, and its records do not grow without bounds. Some structures are emptied or read between
//! parts.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};

use interlap::core::operation::{Family, Op};
use interlap::trace::area::Stage;
use interlap::trace::frame::{self, Frame, PART_CALLS, Pause, RoundStart};

use crate::drain::{KEYS_READ_MAX, emptier, store_reader};
use crate::library::Role;
use crate::pipe::Pipe;
use crate::record::Area;
use crate::workload::{Shape, TRANSACTION_MAX};

/// A part has fewer calls if they have more values than this.
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
    sender: u32,
    /// If the sender can empty the structure or read it all: after how many added values it does.
    added_max: Option<u64>,
    /// How many values had been added when the structure was last emptied.
    emptied: AtomicU64,
    outlet: Mutex<Outlet<'a>>,
}

struct Outlet<'a> {
    frames: &'a mut Vec<u8>,
    pipe: &'a mut Pipe,
    part: u64,
}

/// Calls of each thread in each part of the round; none: it has no parts.
pub fn calls_per_part(shape: &Shape) -> Option<u64> {
    let values = shape.values_per_call() as u64;
    let most = PART_CALLS / u64::from(shape.threads) / values.div_ceil(VALUES_PER_CALL);
    let long = !shape.sequential && shape.calls > most;
    long.then_some(most.max(1))
}

/// Calls that a thread may make beyond those of a part: to the end of its transaction, and in a
/// transaction that reads the store.
pub fn calls_over(operations: &[(Op, Role)], shape: &Shape) -> u64 {
    let is_store = operations.iter().any(|(op, _)| op.family() == Family::Store);
    if is_store { 2 * TRANSACTION_MAX + shape.keys().min(KEYS_READ_MAX) } else { 0 }
}

impl<'a> Parts<'a> {
    pub fn new(
        shape: &Shape,
        calls: u64,
        operations: &[(Op, Role)],
        frames: &'a mut Vec<u8>,
        pipe: &'a mut Pipe,
    ) -> Parts<'a> {
        // The checker knows the order of a stack only where it is empty, and the order of changes
        // of a key only where it has been read.
        let is_stack = operations.iter().any(|(op, _)| *op == Op::Pop);
        let reader = store_reader(operations, shape);
        let emptier = reader.or_else(|| emptier(operations, shape.threads));
        let every_time = is_stack || reader.is_some();
        Parts {
            start: shape.start(),
            calls,
            gate: Barrier::new(shape.threads as usize),
            sender: emptier.unwrap_or(0),
            added_max: emptier.map(|_| if every_time { 0 } else { ADDED_MAX }),
            emptied: AtomicU64::new(0),
            outlet: Mutex::new(Outlet { frames, pipe, part: 0 }),
        }
    }

    /// Called by every thread of the round between two parts, when all together have added `added`
    /// values. One of them may `empty` the structure or read it all.
    pub fn meet(&self, thread: u32, area: &Area, added: &AtomicU64, empty: impl FnOnce()) {
        self.gate.wait();
        if thread == self.sender {
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

    /// Sends what was recorded since the last part, while no thread records. Then all threads begin
    /// their records anew, in the stage `next`.
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
