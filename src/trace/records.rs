//! The layout of one thread's recorded calls: a run of bytes that is written before and after each
//! call and is complete at any instant, so that a thread that dies inside a call leaves it pending.
//! Bytes come in, a history's [`Thread`] goes out, and back. Knows nothing of frames and files.
//!
//! ```text
//! before the call   op: u8    arguments: count, values    start: u64, little endian
//! after the call    status: u8    end - start: varint    results: count, values
//! ```
//! Counts are LEB128 varints, values zigzag varints. Records that end after `start` are pending.

use crate::core::history::{Entry, Misfit, Thread};
use crate::core::operation::{Op, Status};

/// Fewest bytes a record takes.
pub const SIZE_MIN: usize = 1 + 1 + 8 + 1 + 1 + 1;

/// Most bytes a record takes that carries `values` arguments and results.
pub const fn size_max(values: usize) -> usize {
    1 + 3 + 8 + 1 + VARINT_MAX + 3 + values * VARINT_MAX
}

const VARINT_MAX: usize = 10;

/// Writes into a thread's record memory.
pub struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
    /// Where the memory that was brought in ends.
    warm: usize,
}

/// So much memory is brought in at a time.
const WARM_BYTES: usize = 4096;
const CACHE_LINE: usize = 64;

impl<'a> Writer<'a> {
    pub fn new(bytes: &'a mut [u8]) -> Writer<'a> {
        Writer { bytes, at: 0, warm: 0 }
    }

    /// Bytes written so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.at
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at == 0
    }

    #[inline]
    pub fn room(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Brings in the memory of the records to come, if the next of so many bytes would leave what
    /// was brought in: many lines at once, and outside of a box, whose closing fence would wait for
    /// each of them.
    #[inline]
    pub fn warm_up(&mut self, bytes: usize) {
        if self.at + bytes > self.warm {
            self.warm_more(bytes);
        }
    }

    #[cold]
    fn warm_more(&mut self, bytes: usize) {
        let end = (self.at + bytes.max(WARM_BYTES)).min(self.bytes.len());
        // What is already written stays.
        let first = self.warm.max(self.at);
        for line in (first..end).step_by(CACHE_LINE) {
            self.bytes[line] = 0;
        }
        self.warm = end;
    }

    /// Begins anew, in memory that has to be brought in again.
    pub fn rewind(&mut self) {
        (self.at, self.warm) = (0, 0);
    }

    /// Forgets everything from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.at = self.at.min(len);
    }

    /// Writes what is known before the call. The start stamp follows by [`Writer::start`].
    #[inline]
    pub fn call(&mut self, op: Op, args: &[i64]) {
        let mut at = put_byte(self.bytes, self.at, op as u8);
        at = put_values(self.bytes, at, args);
        self.at = at;
    }

    #[inline]
    pub fn start(&mut self, start: u64) {
        self.bytes[self.at..self.at + 8].copy_from_slice(&start.to_le_bytes());
        self.at += 8;
    }

    /// Corrects the stamp that the last [`Writer::start`] wrote, if nothing has followed it.
    #[inline]
    pub fn restart(&mut self, start: u64) {
        self.at -= 8;
        self.start(start);
    }

    /// Writes what is known after the call.
    #[inline]
    pub fn answer(&mut self, status: u8, duration: u64, results: &[i64]) {
        let mut at = put_byte(self.bytes, self.at, status);
        at = put_varint(self.bytes, at, duration);
        at = put_values(self.bytes, at, results);
        self.at = at;
    }
}

// The position goes in and comes out by value: kept in the writer it would be stored and loaded
// for every byte.

#[inline]
fn put_values(bytes: &mut [u8], at: usize, values: &[i64]) -> usize {
    let mut at = put_varint(bytes, at, values.len() as u64);
    for &value in values {
        at = put_varint(bytes, at, ((value << 1) ^ (value >> 63)) as u64);
    }
    at
}

#[inline]
fn put_varint(bytes: &mut [u8], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        at = put_byte(bytes, at, value as u8 | 0x80);
        value >>= 7;
    }
    put_byte(bytes, at, value as u8)
}

#[inline]
fn put_byte(bytes: &mut [u8], at: usize, byte: u8) -> usize {
    bytes[at] = byte;
    at + 1
}

/// Turns one client's records, in pieces of any size, into its operations: one thread, or several
/// where operations of unknown outcome retire them (see [`Thread::client`]).
pub struct Reader {
    current: Thread,
    /// Those before it, which are retired.
    done: Vec<Thread>,
    rest: Vec<u8>,
    args: Vec<i64>,
    results: Vec<i64>,
}

/// What is wrong with a record.
#[derive(Debug, PartialEq)]
pub enum RecordError {
    /// The bytes end inside a record.
    Short,
    /// No harness writes such bytes.
    Damaged(String),
    /// The adapter answered what the operation cannot answer.
    Adapter(String),
}

impl Reader {
    pub fn new(client: u32) -> Reader {
        Reader {
            current: Thread::new(client),
            done: Vec::new(),
            rest: Vec::new(),
            args: Vec::new(),
            results: Vec::new(),
        }
    }

    /// Sets memory aside for a thread of about so many calls, where growing step by step would
    /// need twice as much. Does nothing once it is set aside.
    pub fn reserve(&mut self, calls: usize) {
        if self.current.operations().is_empty() {
            self.current.reserve(calls);
        }
    }

    /// Takes the next bytes; a record cut off at their end waits for the ones that follow.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        if self.rest.is_empty() {
            let used = self.consume(bytes)?;
            self.rest.extend_from_slice(&bytes[used..]);
        } else {
            let mut joined = std::mem::take(&mut self.rest);
            joined.extend_from_slice(bytes);
            let used = self.consume(&joined)?;
            joined.drain(..used);
            self.rest = joined;
        }
        Ok(())
    }

    /// The threads, the last operation pending if the records end inside a call.
    pub fn finish(mut self) -> Result<Vec<Thread>, RecordError> {
        let mut threads = Vec::new();
        self.hand_out(&mut threads)?;
        Ok(threads)
    }

    /// As [`Reader::finish`], ready for the next round's records afterwards.
    pub fn hand_out(&mut self, threads: &mut Vec<Thread>) -> Result<(), RecordError> {
        self.end_inside_a_call()?;
        threads.append(&mut self.done);
        let next = Thread::new(self.current.client);
        threads.push(std::mem::replace(&mut self.current, next));
        Ok(())
    }

    /// Forgets what was read.
    pub fn clear(&mut self) {
        self.current = Thread::new(self.current.client);
        self.done.clear();
        self.rest.clear();
    }

    fn end_inside_a_call(&mut self) -> Result<(), RecordError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let rest = std::mem::take(&mut self.rest);
        let mut cursor = Cursor { bytes: &rest, at: 0 };
        let (op, start) = self.before_call(&mut cursor)?;
        if cursor.at != rest.len() {
            return Err(RecordError::Short);
        }
        self.push(op, Status::Pending, start, start, &[])
    }

    /// Reads whole records; returns how many bytes they took.
    fn consume(&mut self, bytes: &[u8]) -> Result<usize, RecordError> {
        let mut cursor = Cursor { bytes, at: 0 };
        loop {
            let record = cursor.at;
            match self.record(&mut cursor) {
                Ok(()) => {}
                Err(RecordError::Short) => return Ok(record),
                Err(error) => return Err(error),
            }
        }
    }

    fn record(&mut self, cursor: &mut Cursor) -> Result<(), RecordError> {
        let (op, start) = self.before_call(cursor)?;
        let code = cursor.byte()?;
        let status = Status::from_code(code as u32)
            .ok_or_else(|| RecordError::Damaged(format!("status {code}")))?;
        let duration = cursor.varint()?;
        let mut results = std::mem::take(&mut self.results);
        cursor.values(&mut results)?;
        let end = start.checked_add(duration);
        let end = end.ok_or_else(|| RecordError::Damaged(format!("duration {duration}")))?;
        let pushed = self.push(op, status, start, end, &results);
        self.results = results;
        pushed
    }

    fn before_call(&mut self, cursor: &mut Cursor) -> Result<(Op, u64), RecordError> {
        let code = cursor.byte()?;
        let op = Op::from_code(code as u32)
            .ok_or_else(|| RecordError::Damaged(format!("operation {code:#x}")))?;
        cursor.values(&mut self.args)?;
        Ok((op, cursor.stamp()?))
    }

    fn push(
        &mut self,
        op: Op,
        status: Status,
        start: u64,
        end: u64,
        results: &[i64],
    ) -> Result<(), RecordError> {
        if self.current.is_retired() {
            let next = Thread::new(self.current.client);
            self.done.push(std::mem::replace(&mut self.current, next));
        }
        let entry = Entry { op, status, start, end, args: &self.args, results };
        self.current.push(entry).map_err(|misfit| match misfit {
            Misfit::Shape(text) => RecordError::Adapter(text),
            Misfit::Order(text) => RecordError::Damaged(text),
        })
    }
}

/// The records of a thread, as a harness would have written them.
pub fn encode(thread: &Thread) -> Vec<u8> {
    let mut bytes = Vec::new();
    for operation in thread.operations() {
        let (args, results) = (thread.args(operation), thread.results(operation));
        let from = bytes.len();
        bytes.resize(from + size_max(args.len() + results.len()), 0);
        let mut writer = Writer::new(&mut bytes[from..]);
        writer.call(operation.op, args);
        writer.start(operation.start);
        if operation.status != Status::Pending {
            let duration = operation.end.saturating_sub(operation.start);
            let duration = if operation.status.is_open() { 0 } else { duration };
            writer.answer(operation.status as u8, duration, results);
        }
        let written = writer.len();
        bytes.truncate(from + written);
    }
    bytes
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn byte(&mut self) -> Result<u8, RecordError> {
        let byte = *self.bytes.get(self.at).ok_or(RecordError::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn stamp(&mut self) -> Result<u64, RecordError> {
        let bytes = self.bytes.get(self.at..self.at + 8).ok_or(RecordError::Short)?;
        self.at += 8;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
    }

    fn varint(&mut self) -> Result<u64, RecordError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(RecordError::Damaged("a number longer than 64 bits".to_string()))
    }

    fn values(&mut self, values: &mut Vec<i64>) -> Result<(), RecordError> {
        values.clear();
        let count = self.varint()?;
        if count > u64::from(u16::MAX) {
            return Err(RecordError::Damaged(format!("{count} values in a call")));
        }
        for _ in 0..count {
            let zigzag = self.varint()?;
            values.push((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Thread {
        let mut thread = Thread::new(4);
        let mut push = |op, status, start, end, args: &[i64], results: &[i64]| {
            thread.push(Entry { op, status, start, end, args, results }).expect("valid")
        };
        push(Op::Enqueue, Status::Ok, 5, 9, &[i64::MIN], &[]);
        push(Op::EnqueueBulk, Status::Ok, 1 << 60, (1 << 60) + 300, &[1, -1, i64::MAX], &[2]);
        push(Op::Dequeue, Status::Ok, (1 << 61) + 1, 1 << 62, &[], &[-77]);
        push(Op::Enqueue, Status::Pending, 1 << 63, 0, &[8], &[]);
        thread
    }

    #[test]
    fn records_round_trip_in_pieces_of_any_size() {
        let thread = sample();
        let bytes = encode(&thread);
        for size in 1..=bytes.len() {
            let mut reader = Reader::new(4);
            for piece in bytes.chunks(size) {
                reader.feed(piece).expect("sound");
            }
            assert_eq!(reader.finish().expect("sound"), std::slice::from_ref(&thread));
        }
    }

    #[test]
    fn cut_at_any_byte_they_give_a_prefix_or_say_so() {
        let (thread, bytes) = (sample(), encode(&sample()));
        for cut in 0..bytes.len() {
            let mut reader = Reader::new(4);
            reader.feed(&bytes[..cut]).expect("a prefix is sound");
            match reader.finish() {
                Ok(read) => assert!(read[0].operations().len() <= thread.operations().len()),
                Err(error) => assert_eq!(error, RecordError::Short),
            }
        }
    }

    #[test]
    fn damage_and_adapter_errors_are_told_apart() {
        let read = |bytes: &[u8]| Reader::new(0).feed(bytes).expect_err("bad");
        assert!(matches!(read(&[0xff, 0, 0]), RecordError::Damaged(_)));
        let mut bytes = [0; 64];
        let mut writer = Writer::new(&mut bytes);
        writer.call(Op::Dequeue, &[]);
        writer.start(1);
        writer.answer(Status::Failed as u8, 1, &[]);
        let len = writer.len();
        assert!(matches!(read(&bytes[..len]), RecordError::Adapter(_)));
    }
}
