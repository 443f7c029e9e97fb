//! Judges short rounds in the process that ran them, while no code of the target runs. The main
//! program judges a sample of them again, and every round that is not consistent. So memory that
//! the target has overwritten makes no false alarm, and hides no violation of the sample.

use std::io;
use std::sync::Arc;

use interlap::check::{self, Limits};
use interlap::core::history::{History, Thread};
use interlap::core::method::Methods;
use interlap::core::plan::{Carrier, Job};
use interlap::core::sequential_runs::SequentialRuns;
use interlap::model::{Kind, Spec};
use interlap::trace::frame::Steps;
use interlap::trace::judged::{Answered, Judged, Judgement};
use interlap::trace::records::Reader;

use super::alone::Alone;
use super::read_only::ReadOnly;
use super::round::Done;
use crate::library::Target;
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

pub struct Judge<'a> {
    rules: ReadOnly<Rules>,
    reader: RoundReader,
    /// Where the structure, or a class beside it, is the model.
    alone: Option<Alone<'a>>,
}

/// Reads the records of a round, into memory that is used again.
pub struct RoundReader {
    reader: Reader,
    history: History,
    unused: Vec<Thread>,
}

impl RoundReader {
    pub fn new(methods: &Methods) -> RoundReader {
        let reader = Reader::new(0, methods.clone());
        RoundReader { reader, history: History::default(), unused: Vec::new() }
    }

    /// The calls of a round that is over. None if the outcome of some is unknown; calls that wait
    /// for ever have none, if there may be such.
    pub fn read(&mut self, threads: u32, may_wait: bool, area: &mut Area) -> Option<&mut History> {
        self.unused.append(&mut self.history.threads);
        (self.history.drained, self.history.drain) = (false, Some(threads));
        self.history.waits = may_wait;
        self.history.runs = None;
        for client in 0..=threads {
            let records = area.records(client);
            if records.is_empty() {
                continue;
            }
            self.reader.restart(client, self.unused.pop().unwrap_or_default());
            let read = self.reader.feed(records);
            let thread = self.reader.take_known(may_wait).filter(|_| read.is_ok())?;
            self.history.threads.push(thread);
        }
        Some(&mut self.history)
    }
}

impl<'a> Judge<'a> {
    /// None if the main program judges all rounds: always by a model that is a program of its own,
    /// never where the structure is its own model.
    pub fn new(job: &'a Job, target: &'a Target) -> io::Result<Option<Judge<'a>>> {
        let model = job.plan.model.as_ref().unwrap_or(&target.info.model);
        // The main program says what is wrong with the name.
        let Ok(model) = model.parse::<Spec>() else { return Ok(None) };
        // A debugger sees the round, and no other calls.
        let is_run = model.kind.is_run() && job.plan.control.carrier == Carrier::Fiber;
        let alone = is_run.then(|| Alone::new(job, target, model.kind));
        let is_elsewhere = model.kind == Kind::Own;
        if (!job.judges || is_elsewhere) && alone.is_none() {
            return Ok(None);
        }
        let limits = Limits {
            configurations_max: CONFIGURATIONS_MAX,
            steps_max: STEPS_MAX,
            jobs: 1,
            ..Limits::default()
        };
        Ok(Some(Judge {
            rules: ReadOnly::new(Rules { model, limits })?,
            reader: RoundReader::new(&target.methods),
            alone,
        }))
    }

    /// Judges a round that is over. None where the main program is to. Where the structure is its
    /// own model, other calls are recorded in `area` after that.
    ///
    /// # Errors
    /// If the structure could not be made again.
    pub fn judge(
        &mut self,
        shape: &Shape,
        done: &Done,
        area: &mut Area,
    ) -> Result<Option<Judgement>, String> {
        let is_long = shape.operations() > OPERATIONS_MAX;
        if is_long || shape.sequential && self.alone.is_none() {
            return Ok(None);
        }
        let read = self.reader.read(shape.threads, done.waits, area);
        let Some(history) = read else { return Ok(None) };
        history.drained = done.drained;
        let Rules { model, limits } = self.rules.get();
        let verdict = match &mut self.alone {
            Some(alone) => alone.decide((shape, &done.effects, history), (model, limits), area)?,
            None => check::check(history, model, limits),
        };
        Ok(Judgement::of(&verdict))
    }

    /// Whether the structure is its own model.
    pub fn is_alone(&self) -> bool {
        self.alone.is_some()
    }

    /// What was run for the round that was judged last, one call at a time.
    pub fn runs(&self) -> Option<&Arc<SequentialRuns>> {
        self.reader.history.runs.as_ref()
    }

    /// Whether threads of the target outlived a run of one call at a time.
    pub fn left_running(&self) -> bool {
        self.alone.as_ref().is_some_and(|alone| alone.left_running)
    }

    /// What is counted of the round that was judged last.
    pub fn judged(&self, shape: &Shape, steps: Steps) -> Judged {
        let history = &self.reader.history;
        Judged {
            round: shape.round,
            threads: shape.threads,
            overlap: check::overlap(history),
            answers: Answered::count(history, shape.threads),
            steps,
        }
    }
}
