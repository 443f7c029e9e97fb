//! The encoding of frames: a sequence of MessagePack values.
//! The frames of every round are arrays that begin with a number. They are encoded and decoded by
//! hand, because they limit how many rounds a second can be checked. The other frames are maps that
//! begin with their name. A stream that ends inside a value is reported as truncated; the frames
//! before it are valid.

use std::io::{Read, Write};
use std::sync::Arc;

use rmp::decode::{NumValueReadError, ValueReadError};
use rmp::{decode, encode};
use serde::{Deserialize, Serialize};

use super::frame::{
    Bye, Detected, Frame, Hello, Pause, Problem, RECORDS_BYTES_MAX, Records, RoundEnd, RoundStart,
    Schedule, Steps, TRACE_VERSION, TRACE_VERSION_FIRST,
};
use super::judged::{Answered, Judged, Judgement};
use super::trail::Event;
use crate::check::Overlap;
use crate::core::answer::AnswerKind;
use crate::core::method::Method;
use crate::core::operation::Op;
use crate::core::sequential_runs::SequentialRuns;

/// The first elements of the arrays.
const ROUND: u8 = 1;
const RECORDS: u8 = 2;
const END: u8 = 3;
const PAUSE: u8 = 4;
const JUDGED: u8 = 5;

/// A frame that claims to be longer is damaged.
const FRAME_BYTES_MAX: usize = 64 << 20;
const BUFFER_BYTES: usize = 1 << 17;
const DEPTH_MAX: usize = 64;

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the trace ends inside a frame at byte {0}")]
    Truncated(u64),
    #[error("not a trace of interlap, or a damaged one, at byte {at}: {what}")]
    Damaged { at: u64, what: String },
    #[error(
        "the trace has version {0}, and this program reads {TRACE_VERSION_FIRST} to \
         {TRACE_VERSION}: use the interlap that wrote it"
    )]
    Version(u32),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The frames that are written by name.
#[derive(Serialize)]
enum Named<'a> {
    Hello(&'a Hello),
    Runs(&'a SequentialRuns),
    Fault(&'a Detected),
    Cut(&'a Steps),
    Problem(&'a Problem),
    Bye(&'a Bye),
}

#[derive(Deserialize)]
enum NamedRead {
    Hello(Box<Hello>),
    Runs(Box<SequentialRuns>),
    Fault(Detected),
    Cut(Box<Steps>),
    Problem(Problem),
    Bye(Bye),
}

pub fn write(sink: &mut impl Write, frame: &Frame) -> std::io::Result<()> {
    let named = match frame {
        Frame::Round(start) => return write_start(sink, start),
        Frame::Records(records) => return write_records(sink, records.thread, &records.bytes),
        Frame::Pause(pause) => return write_pause(sink, pause),
        Frame::End(end) => return write_end(sink, end),
        Frame::Judged(judged) => return write_judged(sink, judged),
        Frame::Hello(hello) => Named::Hello(hello),
        Frame::Runs(runs) => Named::Runs(runs),
        Frame::Fault(detected) => Named::Fault(detected),
        Frame::Cut(steps) => Named::Cut(steps),
        Frame::Problem(problem) => Named::Problem(problem),
        Frame::Bye(bye) => Named::Bye(bye),
    };
    let bytes = rmp_serde::to_vec_named(&named).map_err(std::io::Error::other)?;
    sink.write_all(&bytes)
}

fn begin(sink: &mut impl Write, kind: u8, fields: u32) -> std::io::Result<()> {
    encode::write_array_len(sink, fields + 1)?;
    number(sink, kind)
}

fn number(sink: &mut impl Write, value: impl Into<u64>) -> std::io::Result<()> {
    encode::write_uint(sink, value.into())?;
    Ok(())
}

fn write_start(sink: &mut impl Write, start: &RoundStart) -> std::io::Result<()> {
    begin(sink, ROUND, 5)?;
    number(sink, start.round)?;
    number(sink, start.threads)?;
    number(sink, start.calls)?;
    encode::write_bool(sink, start.sequential)?;
    encode::write_bool(sink, start.fresh)
}

/// Writes a frame of [`Records`] without copying them.
pub fn write_records(sink: &mut impl Write, thread: u32, bytes: &[u8]) -> std::io::Result<()> {
    begin(sink, RECORDS, 2)?;
    number(sink, thread)?;
    encode::write_bin(sink, bytes)?;
    Ok(())
}

fn write_pause(sink: &mut impl Write, pause: &Pause) -> std::io::Result<()> {
    begin(sink, PAUSE, 2)?;
    number(sink, pause.round)?;
    number(sink, pause.part)
}

fn write_end(sink: &mut impl Write, end: &RoundEnd) -> std::io::Result<()> {
    begin(sink, END, 4 + u32::from(end.judgement.is_some()))?;
    number(sink, end.round)?;
    encode::write_bool(sink, end.drained)?;
    match &end.fault {
        Some(fault) => encode::write_str(sink, fault)?,
        None => encode::write_nil(sink)?,
    }
    match &end.steps {
        Some(steps) => write_steps(sink, steps)?,
        None => encode::write_nil(sink)?,
    }
    match end.judgement {
        Some(judgement) => encode::write_bool(sink, judgement == Judgement::Consistent),
        None => Ok(()),
    }
}

/// Writes a frame of a [`Judged`].
pub fn write_judged(sink: &mut impl Write, judged: &Judged) -> std::io::Result<()> {
    begin(sink, JUDGED, 6)?;
    number(sink, judged.round)?;
    number(sink, judged.threads)?;
    number(sink, judged.overlap.operations as u64)?;
    number(sink, judged.overlap.overlapping as u64)?;
    encode::write_array_len(sink, judged.answers.len() as u32)?;
    for Answered { op, kind, by_first, by_others } in &judged.answers {
        match op {
            Op::Method(method) => encode::write_str(sink, method.text())?,
            op => number(sink, op.code())?,
        }
        number(sink, *kind as u8)?;
        number(sink, *by_first)?;
        number(sink, *by_others)?;
    }
    write_steps(sink, &judged.steps)
}

fn write_steps(sink: &mut impl Write, steps: &Steps) -> std::io::Result<()> {
    // A schedule and a trail follow the rest, if there are any.
    let more = 2 * u32::from(steps.recorded.is_some()) + u32::from(steps.trail.is_some());
    encode::write_array_len(sink, 9 + more)?;
    encode::write_str(sink, &steps.policy)?;
    for value in [steps.steps, steps.switches, steps.schedule, steps.atomics, steps.blocking] {
        number(sink, value)?;
    }
    encode::write_array_len(sink, steps.pairs.len() as u32)?;
    for pair in &steps.pairs {
        number(sink, *pair)?;
    }
    number(sink, steps.leaked_blocks)?;
    number(sink, steps.leaked_bytes)?;
    if let Some(Schedule { list, turns, preemptions }) = &steps.recorded {
        encode::write_str(sink, &format!("{list} {turns}"))?;
        number(sink, *preemptions)?;
    }
    if let Some(trail) = &steps.trail {
        let bytes = rmp_serde::to_vec(trail).map_err(std::io::Error::other)?;
        encode::write_bin(sink, &bytes)?;
    }
    Ok(())
}

/// Why the buffered bytes do not begin with a frame.
enum Fail {
    /// They end inside the frame.
    Short,
    Damaged(String),
}

impl From<ValueReadError> for Fail {
    fn from(error: ValueReadError) -> Fail {
        match error {
            // Reading from memory fails only at its end.
            ValueReadError::InvalidMarkerRead(_) | ValueReadError::InvalidDataRead(_) => {
                Fail::Short
            }
            ValueReadError::TypeMismatch(marker) => Fail::Damaged(format!("a stray {marker:?}")),
        }
    }
}

impl From<NumValueReadError> for Fail {
    fn from(error: NumValueReadError) -> Fail {
        match error {
            NumValueReadError::InvalidMarkerRead(_) | NumValueReadError::InvalidDataRead(_) => {
                Fail::Short
            }
            other => Fail::Damaged(other.to_string()),
        }
    }
}

/// Removes one frame from the front of `bytes`.
fn take(bytes: &mut &[u8]) -> Result<Frame, Fail> {
    let first = *bytes.first().ok_or(Fail::Short)?;
    if first & 0xf0 != 0x90 {
        return take_named(bytes);
    }
    let fields = decode::read_array_len(bytes)?;
    match (int(bytes)?, fields) {
        (ROUND, 6) => Ok(Frame::Round(RoundStart {
            round: int(bytes)?,
            threads: int(bytes)?,
            calls: int(bytes)?,
            sequential: decode::read_bool(bytes)?,
            fresh: decode::read_bool(bytes)?,
        })),
        (RECORDS, 3) => {
            let thread = int(bytes)?;
            let len = decode::read_bin_len(bytes)? as usize;
            if len > RECORDS_BYTES_MAX {
                return Err(Fail::Damaged(format!("{len} bytes of records")));
            }
            Ok(Frame::Records(Records { thread, bytes: part(bytes, len)?.to_vec() }))
        }
        (PAUSE, 3) => Ok(Frame::Pause(Pause { round: int(bytes)?, part: int(bytes)? })),
        (END, 5 | 6) => Ok(Frame::End(RoundEnd {
            round: int(bytes)?,
            drained: decode::read_bool(bytes)?,
            fault: optional(bytes, text)?,
            steps: optional(bytes, steps)?,
            judgement: if fields == 6 { Some(judgement(bytes)?) } else { None },
        })),
        (JUDGED, 7) => Ok(Frame::Judged(Box::new(Judged {
            round: int(bytes)?,
            threads: int(bytes)?,
            overlap: Overlap { operations: int(bytes)?, overlapping: int(bytes)? },
            answers: (0..decode::read_array_len(bytes)?)
                .map(|_| answered(bytes))
                .collect::<Result<_, _>>()?,
            steps: *steps(bytes)?,
        }))),
        (kind, fields) => Err(Fail::Damaged(format!("frame {kind} of {fields} fields"))),
    }
}

fn int<T: TryFrom<u64>>(bytes: &mut &[u8]) -> Result<T, Fail> {
    let wide: u64 = decode::read_int(bytes)?;
    T::try_from(wide).map_err(|_| Fail::Damaged(format!("{wide} is too large")))
}

/// The next `len` bytes.
fn part<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8], Fail> {
    let (part, rest) = bytes.split_at_checked(len).ok_or(Fail::Short)?;
    *bytes = rest;
    Ok(part)
}

fn optional<T>(
    bytes: &mut &[u8],
    read: fn(&mut &[u8]) -> Result<T, Fail>,
) -> Result<Option<T>, Fail> {
    if bytes.first() == Some(&0xc0) {
        decode::read_nil(bytes)?;
        return Ok(None);
    }
    read(bytes).map(Some)
}

fn text(bytes: &mut &[u8]) -> Result<String, Fail> {
    let len = decode::read_str_len(bytes)? as usize;
    let text = part(bytes, len)?.to_vec();
    String::from_utf8(text).map_err(|error| Fail::Damaged(error.to_string()))
}

fn steps(bytes: &mut &[u8]) -> Result<Box<Steps>, Fail> {
    let fields = decode::read_array_len(bytes)?;
    if !(9..=12).contains(&fields) {
        return Err(Fail::Damaged("counts of another version".to_string()));
    }
    Ok(Box::new(Steps {
        policy: text(bytes)?,
        steps: int(bytes)?,
        switches: int(bytes)?,
        schedule: int(bytes)?,
        atomics: int(bytes)?,
        blocking: int(bytes)?,
        pairs: (0..decode::read_array_len(bytes)?).map(|_| int(bytes)).collect::<Result<_, _>>()?,
        leaked_blocks: int(bytes)?,
        leaked_bytes: int(bytes)?,
        recorded: match fields {
            11 | 12 => Some(schedule(bytes)?),
            _ => None,
        },
        trail: match fields {
            10 | 12 => Some(trail(bytes)?),
            _ => None,
        },
    }))
}

fn judgement(bytes: &mut &[u8]) -> Result<Judgement, Fail> {
    let consistent = decode::read_bool(bytes)?;
    Ok(if consistent { Judgement::Consistent } else { Judgement::Violation })
}

fn answered(bytes: &mut &[u8]) -> Result<Answered, Fail> {
    let is_number =
        bytes.first().is_none_or(|first| *first < 0x80 || *first >= 0xcc && *first < 0xd0);
    let op = match is_number {
        true => Op::from_code(int(bytes)?),
        false => Method::new(&text(bytes)?).ok().map(Op::Method),
    };
    let kind: usize = int(bytes)?;
    let damaged = || Fail::Damaged(format!("answer {kind} of an operation"));
    Ok(Answered {
        op: op.ok_or_else(damaged)?,
        kind: *AnswerKind::ALL.get(kind).ok_or_else(damaged)?,
        by_first: int(bytes)?,
        by_others: int(bytes)?,
    })
}

/// Schedules of older traces have no turns.
fn schedule(bytes: &mut &[u8]) -> Result<Schedule, Fail> {
    let both = text(bytes)?;
    let (list, turns) = both.split_once(' ').unwrap_or((&both, ""));
    let (list, turns) = (list.to_string(), turns.to_string());
    Ok(Schedule { list, turns, preemptions: int(bytes)? })
}

fn trail(bytes: &mut &[u8]) -> Result<Vec<Event>, Fail> {
    let len = decode::read_bin_len(bytes)? as usize;
    rmp_serde::from_slice(part(bytes, len)?).map_err(|error| Fail::Damaged(error.to_string()))
}

fn take_named(bytes: &mut &[u8]) -> Result<Frame, Fail> {
    let mut source = Memory { rest: bytes, ended: false };
    let mut reader = rmp_serde::Deserializer::new(&mut source);
    reader.set_max_depth(DEPTH_MAX);
    let named = NamedRead::deserialize(&mut reader).map_err(|error| error.to_string());
    let named = named.map_err(|what| if source.ended { Fail::Short } else { Fail::Damaged(what) });
    *bytes = source.rest;
    Ok(match named? {
        NamedRead::Hello(hello) => Frame::Hello(hello),
        NamedRead::Runs(runs) => Frame::Runs(Arc::from(runs)),
        NamedRead::Fault(detected) => Frame::Fault(detected),
        NamedRead::Cut(steps) => Frame::Cut(steps),
        NamedRead::Problem(problem) => Frame::Problem(problem),
        NamedRead::Bye(bye) => Frame::Bye(bye),
    })
}

/// Bytes in memory. Records whether a read asked for more bytes than there are.
struct Memory<'a> {
    rest: &'a [u8],
    ended: bool,
}

impl Read for Memory<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.ended |= buffer.len() > self.rest.len();
        self.rest.read(buffer)
    }
}

/// Reads frames until the stream ends.
pub struct FrameReader<R> {
    source: R,
    /// `from..to` holds the bytes that were read and not returned.
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// Bytes of the frames returned so far.
    at: u64,
    seen_hello: bool,
}

impl<R: Read> FrameReader<R> {
    pub fn new(source: R) -> FrameReader<R> {
        FrameReader { source, buffer: Vec::new(), from: 0, to: 0, at: 0, seen_hello: false }
    }

    /// For a stream that continues another one, which had the header.
    pub fn resumed(source: R) -> FrameReader<R> {
        FrameReader { seen_hello: true, ..FrameReader::new(source) }
    }

    /// The next frame; none at the end of the stream.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        loop {
            let mut rest = &self.buffer[self.from..self.to];
            match take(&mut rest) {
                Ok(frame) => {
                    let used = self.to - self.from - rest.len();
                    self.from += used;
                    self.at += used as u64;
                    self.check_order(&frame)?;
                    return Ok(Some(frame));
                }
                Err(Fail::Damaged(what)) => return Err(FrameError::Damaged { at: self.at, what }),
                Err(Fail::Short) => {}
            }
            let waiting = self.to - self.from;
            if self.read_more()? == 0 {
                return match waiting {
                    0 => Ok(None),
                    n => Err(FrameError::Truncated(self.at + n as u64)),
                };
            }
        }
    }

    /// Whether some bytes of the next frame are already read.
    pub fn has_buffered(&self) -> bool {
        self.from < self.to
    }

    fn read_more(&mut self) -> Result<usize, FrameError> {
        self.buffer.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        if self.to > FRAME_BYTES_MAX {
            let what = "a frame without an end".to_string();
            return Err(FrameError::Damaged { at: self.at, what });
        }
        // The buffer doubles, because a frame that is cut off is decoded again from its beginning.
        if self.buffer.len() < (2 * self.to).max(BUFFER_BYTES) {
            self.buffer.resize((2 * self.to).max(BUFFER_BYTES), 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.to..]) {
                Ok(n) => {
                    self.to += n;
                    return Ok(n);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn check_order(&mut self, frame: &Frame) -> Result<(), FrameError> {
        match frame {
            Frame::Hello(hello)
                if !(TRACE_VERSION_FIRST..=TRACE_VERSION).contains(&hello.version) =>
            {
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

#[cfg(test)]
mod tests {
    use super::super::frame::{ClockInfo, TargetInfo};
    use super::*;
    use crate::core::plan::{Clock, Plan};

    fn stream() -> Vec<u8> {
        let hello = Hello {
            version: TRACE_VERSION,
            plan: Plan::new("x", 1),
            target: TargetInfo {
                library: "x".into(),
                version: String::new(),
                model: "fifo".into(),
                operations: vec![Op::Enqueue],
                thread_max: 0,
                capacity: 0,
                block_size: 0,
            },
            clock: ClockInfo { clock: Clock::Tsc, refused: None, nanoseconds_per_unit: 0.4 },
            area_fd: None,
            process: None,
            code: None,
            warnings: vec!["it is raining".into()],
            unhooked: vec!["librain.so.1".into()],
        };
        let mut bytes = Vec::new();
        for frame in [
            Frame::Hello(Box::new(hello)),
            start(),
            Frame::Records(Records { thread: 3, bytes: vec![1, 2, 3] }),
            end(),
            Frame::Bye(Bye::new(Some(2), None)),
        ] {
            write(&mut bytes, &frame).expect("memory");
        }
        bytes
    }

    fn start() -> Frame {
        Frame::Round(RoundStart {
            round: 70_000,
            threads: 3,
            calls: 8,
            sequential: false,
            fresh: true,
        })
    }

    fn end() -> Frame {
        let steps = Steps {
            policy: "pct:3".into(),
            steps: 400,
            switches: 3,
            schedule: u64::MAX,
            atomics: 1,
            blocking: 0,
            pairs: vec![1, u64::MAX],
            leaked_blocks: 2,
            leaked_bytes: 300,
            recorded: Some(Schedule {
                list: "list:12@1".into(),
                turns: "turns:0.1.4@1".into(),
                preemptions: 1,
            }),
            trail: None,
        };
        let fault = Some("it ended".to_string());
        let steps = Some(Box::new(steps));
        let judgement = Some(Judgement::Violation);
        Frame::End(RoundEnd { fault, steps, judgement, ..RoundEnd::new(1, true) })
    }

    #[test]
    fn frames_round_trip() {
        let bytes = stream();
        let mut reader = FrameReader::new(&bytes[..]);
        let mut frames = Vec::new();
        while let Some(frame) = reader.next_frame().expect("sound") {
            frames.push(frame);
        }
        assert_eq!(frames.len(), 5);
        assert_eq!((&frames[1], &frames[3]), (&start(), &end()));
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
                Ok(_) => assert!(frames <= 5),
                Err(FrameError::Truncated(at)) => {
                    assert!(at <= cut as u64);
                    truncated += 1;
                }
                Err(error) => panic!("{error} at {cut}"),
            }
        }
        assert_eq!(truncated, bytes.len() + 1 - 6, "every cut except the six between frames");
    }

    #[test]
    fn garbage_is_refused() {
        for garbage in [&b"hello, world"[..], &[0xff; 100], &[0xc6, 0xff, 0xff, 0xff, 0xff]] {
            assert!(FrameReader::new(garbage).next_frame().is_err());
        }
    }
}
