//! Long rounds in parts: after so many calls of each thread all of them meet, the last one to come
//! sends what all recorded, and they go on with the same structure. So the main program judges a
//! round while it goes on, and its records never take more memory than one part. What was recorded
//! comes in; frames go out. Knows nothing of calls.

use std::io;
use std::sync::{Barrier, Mutex};

use interlap::trace::area::Stage;
use interlap::trace::frame::{self, Frame, PART_CALLS, Pause, RoundStart};

use crate::record::{Area, Pipe};
use crate::timebox::Timebox;
use crate::workload::Shape;

/// A part of calls with many values has fewer of them.
const VALUES_PER_CALL: u64 = 8;

/// Where the threads of a long round meet.
pub struct Parts<'a> {
    start: RoundStart,
    /// Calls of each thread in each part.
    pub calls: u64,
    gate: Barrier,
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

impl<'a> Parts<'a> {
    pub fn new(
        shape: &Shape,
        calls: u64,
        frames: &'a mut Vec<u8>,
        pipe: &'a mut Pipe,
    ) -> Parts<'a> {
        let gate = Barrier::new(shape.threads as usize);
        Parts {
            start: shape.start(),
            calls,
            gate,
            outlet: Mutex::new(Outlet { frames, pipe, part: 0 }),
        }
    }

    /// Called by every thread of the round between two parts.
    pub fn meet(&self, area: &Area, timebox: &mut Timebox) {
        if self.gate.wait().is_leader() {
            self.send(area, Stage::Calls);
        }
        self.gate.wait();
        timebox.rewind();
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
