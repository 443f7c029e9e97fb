//! The binary layout of one thread's recorded calls, with its writer and reader.
//! Bytes are written before and after each call. They are complete at any instant: a thread that
//! dies inside a call leaves that call pending.
//!
//! ```text
//! before the call   op: u8    arguments: count, values    start: u64, little endian
//! after the call    status: u8    end - start: varint    results: count, values
//! ```
//! Counts are LEB128 varints, values zigzag varints. A record that ends after `start` is pending.

use crate::core::history::{Entry, Misfit, Thread};
use crate::core::operation::{Op, Status};

/// Minimum number of bytes of a record.
pub const SIZE_MIN: usize = 1 + 1 + 8 + 1 + 1 + 1;

/// Maximum number of bytes of a record with `values` arguments and results.
pub const fn size_max(values: usize) -> usize {
    1 + 3 + 8 + 1 + VARINT_MAX + 3 + values * VARINT_MAX
}

const VARINT_MAX: usize = 10;

/// Writes into a thread's record memory.
pub struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
    /// End of the memory that is in the cache.
    warm: usize,
    seal: Seal,
}

/// A checksum of the eight-byte words at the beginning of a thread's records, which are complete
/// and must never change. It is lengthened with the records.
#[derive(Clone, Copy, Default)]
pub struct Seal {
    words: u64,
    sum: u64,
}

impl Seal {
    /// A multiplier of good bit mixing: 2^64 divided by the golden ratio (Knuth, The Art of
    /// Computer Programming, volume 3, section 6.4).
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Goes on to the last whole word of `bytes`, whose beginning it has.
    #[inline]
    pub fn lengthen(&mut self, bytes: &[u8]) {
        let (words, _) = bytes[8 * self.words as usize..].as_chunks::<8>();
        for word in words {
            let mixed = (self.sum ^ u64::from_le_bytes(*word)).wrapping_mul(Self::MULTIPLIER);
            self.sum = mixed.rotate_left(32);
        }
        self.words += words.len() as u64;
    }

    /// As one word of the record area: the number of words, and half of the checksum.
    #[inline]
    pub fn packed(self) -> u64 {
        self.words << 32 | self.sum & u64::from(u32::MAX)
    }

    /// Whether bytes that begin with those of this seal are unchanged.
    pub fn fits(packed: u64, bytes: &[u8]) -> bool {
        let sealed = bytes.get(..8 * (packed >> 32) as usize);
        let of = |bytes: &[u8]| {
            let mut seal = Seal::default();
            seal.lengthen(bytes);
            seal.packed()
        };
        sealed.is_some_and(|bytes| of(bytes) == packed)
    }
}

/// Memory brought into the cache at a time.
const WARM_BYTES: usize = 4096;
const CACHE_LINE: usize = 64;

impl<'a> Writer<'a> {
    pub fn new(bytes: &'a mut [u8]) -> Writer<'a> {
        Writer { bytes, at: 0, warm: 0, seal: Seal::default() }
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

    /// Brings the memory of the next records into the cache, if the next `bytes` are not in it. It
    /// does so for many cache lines at once and outside a timebox, because the fence that closes a
    /// timebox would wait for each of them.
    #[inline]
    pub fn warm_up(&mut self, bytes: usize) {
        if self.at + bytes > self.warm {
            self.warm_more(bytes);
        }
    }

    #[cold]
    fn warm_more(&mut self, bytes: usize) {
        let end = (self.at + bytes.max(WARM_BYTES)).min(self.bytes.len());
        // Bytes that are already written must stay.
        let first = self.warm.max(self.at);
        for line in (first..end).step_by(CACHE_LINE) {
            self.bytes[line] = 0;
        }
        self.warm = end;
    }

    /// Starts again at the beginning, with memory that is no longer in the cache.
    pub fn rewind(&mut self) {
        (self.at, self.warm, self.seal) = (0, 0, Seal::default());
    }

    /// The packed [`Seal`] of all records so far. The last must be complete.
    #[inline]
    pub fn seal(&mut self) -> u64 {
        self.seal.lengthen(&self.bytes[..self.at]);
        self.seal.packed()
    }

    /// Discards everything from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.at = self.at.min(len);
    }

    /// Writes the invocation. [`Writer::start`] writes its stamp.
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

    /// Replaces the stamp of the last [`Writer::start`]. Nothing may have been written since.
    #[inline]
    pub fn restart(&mut self, start: u64) {
        self.at -= 8;
        self.start(start);
    }

    /// Writes the response.
    #[inline]
    pub fn answer(&mut self, status: u8, duration: u64, results: &[i64]) {
        let mut at = put_byte(self.bytes, self.at, status);
        at = put_varint(self.bytes, at, duration);
        at = put_values(self.bytes, at, results);
        self.at = at;
    }
}

// The position is passed and returned by value: as a field of the writer it would be loaded and
// stored for every byte.

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

/// Decodes one client's records, in pieces of any size, into its operations: one thread, or several
/// where operations of unknown outcome retire them (see [`Thread::client`]).
pub struct Reader {
    current: Thread,
    /// The retired threads before it.
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
    /// The bytes cannot come from a harness.
    Damaged(String),
    /// The adapter gave an answer that the operation cannot have.
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

    /// Reserves memory for about this many calls, because growing step by step would need twice as
    /// much. Does nothing once a call was read.
    pub fn reserve(&mut self, calls: usize) {
        if self.current.operations().is_empty() {
            self.current.reserve(calls);
        }
    }

    /// Decodes the next bytes. A record that is cut off at their end waits for more.
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

    /// The threads. The last operation is pending if the records end inside a call.
    pub fn finish(mut self) -> Result<Vec<Thread>, RecordError> {
        let mut threads = Vec::new();
        self.take_threads(&mut threads)?;
        Ok(threads)
    }

    /// As [`Reader::finish`], and prepares for the records of the next round.
    pub fn take_threads(&mut self, threads: &mut Vec<Thread>) -> Result<(), RecordError> {
        self.end_inside_a_call()?;
        threads.append(&mut self.done);
        let next = Thread::new(self.current.client);
        threads.push(std::mem::replace(&mut self.current, next));
        Ok(())
    }

    /// Begins with the records of a client, in the memory of a thread that nobody needs.
    pub fn restart(&mut self, client: u32, mut thread: Thread) {
        thread.restart(client);
        self.current = thread;
        self.done.clear();
        self.rest.clear();
    }

    /// The thread, if all that was read are whole records of operations whose outcome is known.
    pub fn take_returned(&mut self) -> Option<Thread> {
        let returned = self.done.is_empty() && self.rest.is_empty() && !self.current.is_retired();
        returned.then(|| std::mem::take(&mut self.current))
    }

    /// Discards what was read.
    pub fn clear(&mut self) {
        self.current = Thread::new(self.current.client);
        self.done.clear();
        self.rest.clear();
    }

    /// Whether the records so far end inside a call.
    pub fn is_inside_a_call(&self) -> bool {
        !self.rest.is_empty()
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

    /// Decodes whole records. Returns the number of their bytes.
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

/// The records of a thread, as a harness writes them.
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
    fn records_cut_at_any_byte_give_a_prefix_or_an_error() {
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
    fn a_seal_notices_any_changed_byte() {
        let bytes = encode(&sample());
        let mut seal = Seal::default();
        for len in 0..=bytes.len() {
            // However the records grew, up to each of their bytes.
            seal.lengthen(&bytes[..len]);
            let mut changed = bytes.clone();
            for at in 0..bytes.len() {
                changed[at] ^= 1 << (at % 8);
                let is_sealed = at < len / 8 * 8;
                assert_eq!(Seal::fits(seal.packed(), &changed), !is_sealed, "{at} of {len}");
                changed[at] = bytes[at];
            }
            assert!(Seal::fits(seal.packed(), &bytes));
            assert_eq!(Seal::fits(seal.packed(), &bytes[..len.saturating_sub(8)]), len < 8);
        }
        assert!(!Seal::fits(u64::MAX, &bytes), "more bytes than there are");
    }

    #[test]
    fn damage_and_adapter_errors_are_distinguished() {
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
