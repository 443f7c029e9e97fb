//! Judges short rounds in the process that ran them, while no code of the target runs. The main
//! program judges a sample of them again, and every round that is not consistent. So memory that
//! the target has overwritten makes no false alarm, and hides no violation of the sample.

use std::io;

use interlap::check::{self, Limits};
use interlap::core::history::{History, Thread};
use interlap::core::plan::Plan;
use interlap::model::Spec;
use interlap::trace::frame::{Steps, TargetInfo};
use interlap::trace::judged::{Answered, Judged, Judgement};
use interlap::trace::records::Reader;

use super::read_only::ReadOnly;
use crate::record::Area;
use crate::workload::Shape;

/// Longer rounds are sent, so that a slow check never keeps the target waiting.
const OPERATIONS_MAX: u64 = 1024;
/// As those of the main program, but lower: what they do not suffice for is sent.
const CONFIGURATIONS_MAX: usize = 1 << 12;
const STEPS_MAX: u64 = 50_000;

/// What decides a verdict beside the records.
struct Rules {
    model: Spec,
    limits: Limits,
}

pub struct Judge {
    rules: ReadOnly<Rules>,
    /// Memory that is used again.
    reader: Reader,
    history: History,
    unused: Vec<Thread>,
}

impl Judge {
    /// None if the main program judges all rounds.
    pub fn new(plan: &Plan, target: &TargetInfo) -> io::Result<Option<Judge>> {
        let model = plan.model.as_ref().unwrap_or(&target.model);
        // The main program says what is wrong with the name.
        let Ok(model) = model.parse() else { return Ok(None) };
        let limits = Limits {
            configurations_max: CONFIGURATIONS_MAX,
            steps_max: STEPS_MAX,
            jobs: 1,
            ..Limits::default()
        };
        Ok(Some(Judge {
            rules: ReadOnly::new(Rules { model, limits })?,
            reader: Reader::new(0),
            history: History::default(),
            unused: Vec::new(),
        }))
    }

    /// Judges a round that is over. None where the main program is to.
    pub fn judge(&mut self, shape: &Shape, drained: bool, area: &mut Area) -> Option<Judgement> {
        let is_long = shape.operations() > OPERATIONS_MAX;
        if shape.sequential || is_long || !self.read(shape.threads, drained, area) {
            return None;
        }
        let Rules { model, limits } = self.rules.get();
        Judgement::of(&check::check(&self.history, model, limits))
    }

    /// Reads the records of a round. Returns false if they are not all of calls that returned.
    fn read(&mut self, threads: u32, drained: bool, area: &mut Area) -> bool {
        self.unused.append(&mut self.history.threads);
        (self.history.drained, self.history.drain) = (drained, Some(threads));
        for client in 0..=threads {
            let records = area.records(client);
            if records.is_empty() {
                continue;
            }
            self.reader.restart(client, self.unused.pop().unwrap_or_default());
            let read = self.reader.feed(records);
            match self.reader.take_returned().filter(|_| read.is_ok()) {
                Some(thread) => self.history.threads.push(thread),
                None => return false,
            }
        }
        true
    }

    /// What is counted of the round that was judged last.
    pub fn judged(&self, shape: &Shape, steps: Steps) -> Judged {
        Judged {
            round: shape.round,
            threads: shape.threads,
            overlap: check::overlap(&self.history),
            answers: Answered::count(&self.history, shape.threads),
            steps,
        }
    }
}
