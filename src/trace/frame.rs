//! The stream a trace travels in, through a pipe or in a file: MessagePack values, one after the
//! other, each a [`Frame`]. A stream that ends inside a value is truncated, and says so; the rounds
//! before it stand. Knows the layout of frames, not what is in the records.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::plan::{Clock, Plan};

/// Raised whenever a frame or the layout of records changes.
pub const TRACE_VERSION: u32 = 2;

/// Most record bytes in one frame, so that neither side holds a whole long round twice.
pub const RECORDS_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Frame {
    /// The first frame.
    Hello(Box<Hello>),
    /// A round's calls follow.
    Round(RoundStart),
    Records(Records),
    /// The round is over.
    End(RoundEnd),
    /// The controlled engine ended the round, whose records are in the record area; nothing more
    /// follows.
    Fault(Detected),
    /// The adapter broke its contract or cannot go on; nothing more follows.
    Problem(String),
    /// The harness ends by its own will.
    Bye(Bye),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub version: u32,
    pub plan: Plan,
    pub target: TargetInfo,
    pub clock: ClockInfo,
    /// Descriptor number of the harness's record area (see [`super::area`]).
    pub area_fd: Option<i32>,
    /// Where the target's code lies, so that a crash can be told by source line.
    pub code: Option<CodeRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeRange {
    /// Where the library is loaded: addresses in its file count from here.
    pub base: u64,
    pub start: u64,
    pub end: u64,
}

/// What the target says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetInfo {
    pub library: String,
    pub version: String,
    pub model: String,
    /// Code of each operation offered.
    pub operations: Vec<u32>,
    pub thread_max: u32,
    pub capacity: u32,
    pub block_size: u32,
}

/// The clock in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockInfo {
    pub clock: Clock,
    /// Why it is not the time stamp counter.
    pub refused: Option<String>,
    /// Nanoseconds of one unit of a stamp.
    pub nanoseconds_per_unit: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundStart {
    pub round: u64,
    /// Threads that call at once; one more drains.
    pub threads: u32,
    /// Calls each thread was to make.
    pub calls: u64,
    /// Only one call at a time: the test of the adapter against the sequential model.
    pub sequential: bool,
    /// The threads were made for this round.
    pub fresh: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Records {
    pub thread: u32,
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundEnd {
    pub round: u64,
    /// The structure was emptied by one thread after all others were done.
    pub drained: bool,
    /// What ended the harness in this round, in words; none: the round ran to its end.
    pub fault: Option<String>,
    /// What the controlled engine counted.
    pub steps: Option<Box<Steps>>,
}

/// What the controlled engine counted in a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// The scheduling policy, as `crate::schedule` names it.
    pub policy: String,
    pub steps: u64,
    pub switches: u64,
    /// Hash of which thread ran at each step.
    pub schedule: u64,
    /// Atomic and volatile accesses and fences of the target that were seen, and its calls of
    /// locks and other things that block.
    pub atomics: u64,
    pub blocking: u64,
    /// Pairs of a writing and a reading place in the target's code, by different threads, that
    /// this process had not seen before: a hash each, equal in all processes.
    pub pairs: Vec<u64>,
    /// Blocks that were not freed when the structure had been destroyed, and their bytes.
    pub leaked_blocks: u64,
    pub leaked_bytes: u64,
}

/// A fault that the controlled engine saw coming, as opposed to one that ended the process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detected {
    pub kind: DetectedKind,
    pub round: u64,
    /// The thread at fault, if it is one thread's.
    pub thread: Option<u32>,
    /// What happened where, the fault itself first.
    pub places: Vec<Place>,
    pub steps: Box<Steps>,
}

/// Something that happened at a place in the target's code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// In words, as in "thread 1 waits for the mutex at 0x10".
    pub what: String,
    /// Address of the code, to be looked up; none where it is not known.
    pub code: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DetectedKind {
    /// Every thread waits for another.
    Deadlock,
    /// Too many steps.
    Livelock,
    UseAfterFree,
    DoubleFree,
    /// A free of what is no block, or the start of none.
    BadFree,
    /// An access between two blocks.
    OutOfBounds,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bye {
    /// Round to go on with; none: all rounds asked for are done.
    pub next_round: Option<u64>,
    /// Why it ends early: memory has grown by so many bytes in so many rounds.
    pub grown: Option<Growth>,
}

/// The target's process keeps growing, round by round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    pub bytes: u64,
    pub rounds: u64,
}

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the trace ends inside a frame at byte {0}")]
    Truncated(u64),
    #[error("no trace of interlap, or a damaged one, at byte {at}: {what}")]
    Damaged { at: u64, what: String },
    #[error("trace of version {0}; this program reads version {TRACE_VERSION}")]
    Version(u32),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

pub fn write(sink: &mut impl Write, frame: &Frame) -> std::io::Result<()> {
    let bytes = rmp_serde::to_vec_named(frame).map_err(std::io::Error::other)?;
    sink.write_all(&bytes)
}

/// Reads frames until the stream ends.
pub struct FrameReader<R> {
    source: R,
    /// Bytes of the frames read so far.
    at: u64,
    seen_hello: bool,
}

impl<R: BufRead> FrameReader<R> {
    pub fn new(source: R) -> FrameReader<R> {
        FrameReader { source, at: 0, seen_hello: false }
    }

    /// The next frame; none at the end of the stream.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        if self.source.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut counted = Counted { source: &mut self.source, read: 0, ended: false };
        let frame: Result<Frame, _> = rmp_serde::from_read(&mut counted);
        let (read, ended) = (counted.read, counted.ended);
        let frame = frame.map_err(|error| match ended {
            true => FrameError::Truncated(self.at + read),
            false => FrameError::Damaged { at: self.at, what: error.to_string() },
        })?;
        self.at += read;
        self.check_order(&frame)?;
        Ok(Some(frame))
    }

    /// Whether some bytes of the next frame are already here.
    pub fn has_buffered(&self) -> bool
    where
        R: Buffered,
    {
        self.source.has_buffered()
    }

    fn check_order(&mut self, frame: &Frame) -> Result<(), FrameError> {
        match frame {
            Frame::Hello(hello) if hello.version != TRACE_VERSION => {
                return Err(FrameError::Version(hello.version));
            }
            Frame::Hello(_) | Frame::Problem(_) => self.seen_hello = true,
            _ if !self.seen_hello => {
                let what = "the first frame is not a header".to_string();
                return Err(FrameError::Damaged { at: 0, what });
            }
            _ => {}
        }
        Ok(())
    }
}

/// A reader that can tell whether it holds bytes which it has not given out.
pub trait Buffered {
    fn has_buffered(&self) -> bool;
}

impl<R: std::io::Read> Buffered for std::io::BufReader<R> {
    fn has_buffered(&self) -> bool {
        !self.buffer().is_empty()
    }
}

/// Counts what is read, and whether the source ended before the reader had enough.
struct Counted<'a, R> {
    source: &'a mut R,
    read: u64,
    ended: bool,
}

impl<R: BufRead> std::io::Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.read += n as u64;
        self.ended |= n == 0 && !buffer.is_empty();
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Vec<u8> {
        let hello = Hello {
            version: TRACE_VERSION,
            plan: Plan::new("x", 1),
            target: TargetInfo {
                library: "x".into(),
                version: String::new(),
                model: "fifo".into(),
                operations: vec![0x10],
                thread_max: 0,
                capacity: 0,
                block_size: 0,
            },
            clock: ClockInfo { clock: Clock::Tsc, refused: None, nanoseconds_per_unit: 0.4 },
            area_fd: None,
            code: None,
        };
        let mut bytes = Vec::new();
        for frame in [
            Frame::Hello(Box::new(hello)),
            Frame::Records(Records { thread: 3, bytes: vec![1, 2, 3] }),
            Frame::End(RoundEnd { round: 1, drained: true, fault: None, steps: None }),
        ] {
            write(&mut bytes, &frame).expect("memory");
        }
        bytes
    }

    #[test]
    fn a_stream_cut_at_any_byte_keeps_the_frames_before_the_cut() {
        let bytes = stream();
        let mut truncated = 0;
        for cut in 0..=bytes.len() {
            let mut reader = FrameReader::new(&bytes[..cut]);
            let mut frames = 0;
            let end = loop {
                match reader.next_frame() {
                    Ok(Some(_)) => frames += 1,
                    other => break other,
                }
            };
            match end {
                Ok(_) => assert!(frames <= 3),
                Err(FrameError::Truncated(at)) => {
                    assert!(at <= cut as u64);
                    truncated += 1;
                }
                Err(error) => panic!("{error} at {cut}"),
            }
        }
        assert_eq!(truncated, bytes.len() + 1 - 4, "every cut but the four between frames");
    }

    #[test]
    fn garbage_is_refused() {
        for garbage in [&b"hello, world"[..], &[0xff; 100], &[0xc6, 0xff, 0xff, 0xff, 0xff]] {
            assert!(FrameReader::new(garbage).next_frame().is_err());
        }
    }
}
