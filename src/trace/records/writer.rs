//! Writes a thread's records into its memory, before and after each call. It allocates nothing.

use super::seal::Seal;
use super::{BLOCK, UNSUPPORTED};

/// Writes into a thread's record memory.
pub struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
    /// End of the memory that is in the cache.
    warm: usize,
    seal: Seal,
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

    /// Writes the invocation of the operation with this code (`Methods::code`). [`Writer::start`]
    /// writes its stamp.
    #[inline]
    pub fn call(&mut self, code: u8, args: &[i64]) {
        let mut at = put_byte(self.bytes, self.at, code);
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

    /// Begins a block of so many calls: [`Writer::call`] writes the invocation of each,
    /// [`Writer::start`] their stamp.
    pub fn block(&mut self, calls: usize) {
        let at = put_byte(self.bytes, self.at, BLOCK);
        self.at = put_varint(self.bytes, at, calls as u64);
    }

    /// Writes the response of the block's next call; none if the target did nothing.
    #[inline]
    pub fn respond(&mut self, answer: Option<(u8, &[i64])>) {
        self.at = match answer {
            Some((status, results)) => {
                let at = put_byte(self.bytes, self.at, status);
                put_values(self.bytes, at, results)
            }
            None => put_byte(self.bytes, self.at, UNSUPPORTED),
        };
    }

    /// Ends the block.
    pub fn close(&mut self, duration: u64) {
        self.at = put_varint(self.bytes, self.at, duration);
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
