//! Assembles frames into rounds with their histories, and writes rounds as frames.
//! A round without its last frame is discarded: missing records could make a correct history look
//! like a violation.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use super::frame::{
    self, Frame, FrameError, FrameReader, Hello, PART_CALLS, Pause, RECORDS_BYTES_MAX, Records,
    RoundEnd, RoundStart, TargetInfo,
};
use super::judged::Judged;
use super::records::{self, Reader, RecordError, SIZE_MIN};
use crate::core::files;
use crate::core::history::{History, Thread};
use crate::core::method::Methods;
use crate::core::sequential_runs::SequentialRuns;

/// One round, as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    pub start: RoundStart,
    pub history: History,
    pub end: RoundEnd,
}

/// A part of a long round. All of its calls have returned before those of the next part begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub start: RoundStart,
    /// Counted from 0.
    pub number: u64,
    pub history: History,
    /// Set in the last part.
    pub end: Option<RoundEnd>,
}

/// What a frame completes.
pub enum Completed {
    Round(Finished),
    Part(Part),
}

/// A round that is over.
pub enum Finished {
    Whole(Round),
    /// The harness judged it consistent and kept its calls.
    Judged(Box<Judged>),
}

impl Finished {
    /// The round's number.
    pub fn round(&self) -> u64 {
        match self {
            Finished::Whole(round) => round.start.round,
            Finished::Judged(judged) => judged.round,
        }
    }

    /// How many operations it has that are not judged yet.
    pub fn operations(&self) -> usize {
        match self {
            Finished::Whole(round) => round.history.len(),
            Finished::Judged(_) => 0,
        }
    }
}

/// Why frames are not a round.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("damaged trace: {0}")]
    Damaged(String),
    #[error("thread {thread} in round {round}: {what}, which interlap.h does not allow")]
    Adapter { round: u64, thread: u32, what: String },
}

/// Collects the frames of the current round.
#[derive(Default)]
pub struct Assembler {
    methods: Methods,
    current: Option<RoundStart>,
    /// Parts of the current round that were returned.
    parts: u64,
    /// Of the current round.
    runs: Option<Arc<SequentialRuns>>,
    /// One for each client so far, reused in every round.
    readers: Vec<Reader>,
}

impl Assembler {
    /// Of rounds of this target. A "hello" in the frames makes it so, too.
    pub fn of(target: &TargetInfo) -> Assembler {
        let methods = Methods::among(target.operations.iter().copied());
        Assembler { methods, ..Assembler::default() }
    }

    /// Forgets the current round.
    pub fn restart(&mut self) {
        *self = Assembler { methods: std::mem::take(&mut self.methods), ..Assembler::default() };
    }

    /// Whether a round has begun and not ended.
    pub fn is_inside_a_round(&self) -> bool {
        self.current.is_some()
    }

    /// Takes the next frame. Returns the round or the part that it completes.
    pub fn feed_in_parts(&mut self, frame: Frame) -> Result<Option<Completed>, RoundError> {
        match frame {
            Frame::Pause(pause) => self.pause(pause).map(|part| Some(Completed::Part(part))),
            Frame::End(end) if self.parts > 0 => {
                let number = self.parts;
                let Round { start, history, end } = self.end(end)?;
                Ok(Some(Completed::Part(Part { start, number, history, end: Some(end) })))
            }
            Frame::Judged(judged) => Ok(Some(Completed::Round(Finished::Judged(judged)))),
            frame => Ok(self.feed(frame)?.map(Finished::Whole).map(Completed::Round)),
        }
    }

    fn pause(&mut self, pause: Pause) -> Result<Part, RoundError> {
        let start = match &self.current {
            Some(start) if start.round == pause.round && self.parts == pause.part => start.clone(),
            _ => return Err(RoundError::Damaged("a pause outside its round or part".into())),
        };
        self.parts += 1;
        let history = self.history(&start, false)?;
        Ok(Part { start, number: pause.part, history, end: None })
    }

    /// Takes the next frame. Returns the round that it completes.
    pub fn feed(&mut self, frame: Frame) -> Result<Option<Round>, RoundError> {
        match frame {
            Frame::Round(start) => {
                let threads = start.threads.min(super::area::THREADS_MAX as u32);
                let known = self.readers.len() as u32;
                let reader = |client| Reader::new(client, self.methods.clone());
                self.readers.extend((known..=threads).map(reader));
                self.readers.iter_mut().for_each(Reader::clear);
                (self.current, self.parts, self.runs) = (Some(start), 0, None);
            }
            Frame::Records(records) => self.records(&records)?,
            Frame::Runs(runs) => self.runs = Some(runs),
            Frame::End(end) => return self.end(end).map(Some),
            Frame::Pause(_) | Frame::Judged(_) => {}
            Frame::Problem(_) | Frame::Bye(_) => {}
            Frame::Hello(hello) => *self = Assembler::of(&hello.target),
            Frame::Fault(_) | Frame::Cut(_) => {}
        }
        Ok(None)
    }

    fn records(&mut self, records: &Records) -> Result<(), RoundError> {
        let Some(start) = &self.current else {
            return Err(RoundError::Damaged("records outside a round".to_string()));
        };
        let reader = self.readers.get_mut(records.thread as usize);
        let Some(reader) = reader.filter(|_| records.thread <= start.threads) else {
            return Err(RoundError::Damaged(format!("records of thread {}", records.thread)));
        };
        let (round, thread) = (start.round, records.thread);
        // A full frame is one of several: then only the start frame knows the number of calls.
        let bytes = records.bytes.len();
        let most = if bytes < RECORDS_BYTES_MAX { bytes / SIZE_MIN } else { PART_CALLS as usize };
        if thread < start.threads {
            reader.reserve(most.min(start.calls as usize), &records.bytes);
        }
        reader.feed(&records.bytes).map_err(|error| in_round(error, round, thread))
    }

    fn end(&mut self, end: RoundEnd) -> Result<Round, RoundError> {
        let start = match self.current.take() {
            Some(start) if start.round == end.round => start,
            _ => return Err(RoundError::Damaged("the end of a round that did not start".into())),
        };
        self.parts = 0;
        let history = self.history(&start, end.drained)?;
        Ok(Round { start, history, end })
    }

    /// The operations read since the round began, or since the last call of this.
    fn history(&mut self, start: &RoundStart, drained: bool) -> Result<History, RoundError> {
        let mut threads = Vec::with_capacity(self.readers.len());
        for (thread, reader) in self.readers.iter_mut().enumerate() {
            let read = reader.take_threads(&mut threads);
            read.map_err(|error| in_round(error, start.round, thread as u32))?;
        }
        threads.retain(|thread: &Thread| !thread.operations().is_empty());
        let runs = self.runs.take();
        // Such a round came to its end, as it was run again after that.
        let waits = runs.is_some();
        let drain = Some(start.threads);
        let mut history = History { threads, drained, waits, drain, runs, ..History::default() };
        history.settle();
        Ok(history)
    }
}

fn in_round(error: RecordError, round: u64, thread: u32) -> RoundError {
    match error {
        RecordError::Adapter(what) => RoundError::Adapter { round, thread, what },
        RecordError::Short => {
            RoundError::Damaged(format!("round {round}, thread {thread}: a record is cut off"))
        }
        RecordError::Damaged(what) => {
            RoundError::Damaged(format!("round {round}, thread {thread}: {what}"))
        }
    }
}

/// Everything in a trace file.
pub struct Trace {
    pub hello: Box<Hello>,
    pub rounds: Vec<Round>,
    /// Why the file's last part could not be used.
    pub truncated: Option<String>,
}

/// Reads a trace file. The rounds before a truncation are kept.
pub fn read(path: &Path) -> Result<Trace, RoundError> {
    let mut frames = FrameReader::new(File::open(path).map_err(FrameError::Io)?);
    let hello = match frames.next_frame()? {
        Some(Frame::Hello(hello)) => hello,
        Some(Frame::Problem(problem)) => return Err(RoundError::Damaged(problem.to_string())),
        _ => return Err(RoundError::Damaged("the file is empty".to_string())),
    };
    let mut trace = Trace { hello, rounds: Vec::new(), truncated: None };
    let mut assembler = Assembler::of(&trace.hello.target);
    loop {
        match frames.next_frame() {
            Ok(Some(frame)) => trace.rounds.extend(assembler.feed(frame)?),
            Ok(None) if assembler.is_inside_a_round() => {
                trace.truncated = Some("the trace ends inside a round".to_string());
                return Ok(trace);
            }
            Ok(None) => return Ok(trace),
            Err(error @ FrameError::Truncated(_)) => {
                trace.truncated = Some(error.to_string());
                return Ok(trace);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes a trace file of one round, whole or not at all.
pub fn write(path: &Path, hello: &Hello, round: &Round) -> io::Result<()> {
    files::replace_with(path, |file| {
        let mut writer = Writer::new(file, hello)?;
        writer.add(round)
    })
}

/// Writes a trace file round by round.
pub struct Writer<W = BufWriter<File>> {
    file: W,
    methods: Methods,
}

impl Writer {
    /// Starts a file.
    pub fn create(path: &Path, hello: &Hello) -> io::Result<Writer> {
        Writer::new(BufWriter::new(File::create(path)?), hello)
    }
}

impl<W: Write> Writer<W> {
    /// Starts the trace. Facts about the harness process are left out, so that equal runs write
    /// equal bytes.
    fn new(mut file: W, hello: &Hello) -> io::Result<Writer<W>> {
        let hello = Hello { area_fd: None, process: None, code: None, ..hello.clone() };
        let methods = Methods::among(hello.target.operations.iter().copied());
        frame::write(&mut file, &Frame::Hello(Box::new(hello)))?;
        Ok(Writer { file, methods })
    }

    pub fn add(&mut self, round: &Round) -> io::Result<()> {
        frame::write(&mut self.file, &Frame::Round(round.start.clone()))?;
        self.records(&round.history)?;
        if let Some(runs) = &round.history.runs {
            frame::write(&mut self.file, &Frame::Runs(Arc::clone(runs)))?;
        }
        self.end(&round.end)
    }

    /// Adds a part of a round. The parts of a round must be added one after the other.
    pub fn add_part(&mut self, part: &Part) -> io::Result<()> {
        if part.number == 0 {
            frame::write(&mut self.file, &Frame::Round(part.start.clone()))?;
        }
        self.records(&part.history)?;
        match &part.end {
            Some(end) => self.end(end),
            None => Ok(()),
        }
    }

    fn end(&mut self, end: &RoundEnd) -> io::Result<()> {
        let end = RoundEnd { judgement: None, ..end.clone() };
        frame::write(&mut self.file, &Frame::End(end))
    }

    fn records(&mut self, history: &History) -> io::Result<()> {
        for client in history.clients() {
            let bytes = records::encode(history, client, &self.methods);
            for piece in bytes.chunks(RECORDS_BYTES_MAX) {
                let records = Records { thread: client, bytes: piece.to_vec() };
                frame::write(&mut self.file, &Frame::Records(records))?;
            }
        }
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}
