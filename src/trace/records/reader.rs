//! Reads one client's records, in pieces of any size.
//! The calls of a block have one timebox, so that it says nothing of their order: each goes into a
//! thread of its own, the first calls of all blocks into the first thread, and so on.

use std::ops::Range;

use super::{BLOCK, UNSUPPORTED};
use crate::core::history::{Entry, LATE, Misfit, Thread};
use crate::core::method::Methods;
use crate::core::operation::{Op, Status};

/// Decodes one client's records into its operations: one thread, or several where operations of
/// unknown outcome retire them (see [`Thread::client`]), or where calls share a timebox.
pub struct Reader {
    client: u32,
    methods: Methods,
    /// At least one.
    threads: Vec<Thread>,
    rest: Vec<u8>,
    args: Vec<i64>,
    results: Vec<i64>,
    block: Vec<BlockCall>,
}

/// A call of the block that is being read: where its values are in `args` and `results`.
struct BlockCall {
    op: Op,
    args: Range<usize>,
    /// None: the target did nothing.
    answer: Option<(Status, Range<usize>)>,
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
    /// Of records of a target with these methods.
    pub fn new(client: u32, methods: Methods) -> Reader {
        Reader {
            client,
            methods,
            threads: vec![Thread::new(client)],
            rest: Vec::new(),
            args: Vec::new(),
            results: Vec::new(),
            block: Vec::new(),
        }
    }

    /// Reserves memory for about this many calls, because growing step by step would need twice as
    /// much; `next` are the bytes to be fed next. Does nothing once a call was read, nor where the
    /// calls are those of blocks, which go into several threads.
    pub fn reserve(&mut self, calls: usize, next: &[u8]) {
        if self.threads[0].operations().is_empty() && next.first() != Some(&BLOCK) {
            self.threads[0].reserve(calls);
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

    /// The threads. One call is pending if the records end inside a call.
    pub fn finish(mut self) -> Result<Vec<Thread>, RecordError> {
        let mut threads = Vec::new();
        self.take_threads(&mut threads)?;
        Ok(threads)
    }

    /// As [`Reader::finish`], and prepares for the records of the next round.
    pub fn take_threads(&mut self, threads: &mut Vec<Thread>) -> Result<(), RecordError> {
        self.end_inside_a_call()?;
        threads.append(&mut self.threads);
        self.threads.push(Thread::new(self.client));
        Ok(())
    }

    /// Begins with the records of a client, in the memory of a thread that nobody needs.
    pub fn restart(&mut self, client: u32, mut thread: Thread) {
        thread.restart(client);
        self.client = client;
        self.threads.clear();
        self.threads.push(thread);
        self.rest.clear();
    }

    /// The thread, if there is one, and all that was read are whole records of operations whose
    /// outcome is known; but the last may be pending if `may_wait`.
    pub fn take_known(&mut self, may_wait: bool) -> Option<Thread> {
        let is_known = self.threads.len() == 1 && !self.threads[0].is_retired();
        let ends = !self.is_inside_a_call() || may_wait && self.end_inside_a_call().is_ok();
        (is_known && ends && self.threads.len() == 1).then(|| std::mem::take(&mut self.threads[0]))
    }

    /// Discards what was read.
    pub fn clear(&mut self) {
        self.threads.clear();
        self.threads.push(Thread::new(self.client));
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
        if rest[0] == BLOCK {
            let start = self.block_invocations(&mut cursor)?;
            let answered = self.block_answers(&mut cursor);
            if cursor.at != rest.len() {
                return Err(RecordError::Short);
            }
            return self.push_unended_block(start, answered);
        }
        let (op, start) = self.before_call(&mut cursor)?;
        if cursor.at != rest.len() {
            return Err(RecordError::Short);
        }
        self.push(0, op, Status::Pending, (start, start), &[]).map(drop)
    }

    /// Decodes whole records. Returns the number of their bytes.
    fn consume(&mut self, bytes: &[u8]) -> Result<usize, RecordError> {
        let mut cursor = Cursor { bytes, at: 0 };
        loop {
            let record = cursor.at;
            let read = match bytes.get(record) {
                Some(&BLOCK) => self.block(&mut cursor),
                _ => self.record(&mut cursor),
            };
            match read {
                Ok(()) => {}
                Err(RecordError::Short) => return Ok(record),
                Err(error) => return Err(error),
            }
        }
    }

    fn record(&mut self, cursor: &mut Cursor) -> Result<(), RecordError> {
        let (op, start) = self.before_call(cursor)?;
        let status = status(cursor.byte()?)?;
        let duration = cursor.varint()?;
        let mut results = std::mem::take(&mut self.results);
        results.clear();
        cursor.values(&mut results)?;
        let pushed = self.push(0, op, status, (start, end(start, duration)?), &results);
        self.results = results;
        pushed.map(drop)
    }

    fn before_call(&mut self, cursor: &mut Cursor) -> Result<(Op, u64), RecordError> {
        self.args.clear();
        let op = self.op(cursor.byte()?)?;
        cursor.values(&mut self.args)?;
        Ok((op, cursor.stamp()?))
    }

    fn op(&self, code: u8) -> Result<Op, RecordError> {
        let op = self.methods.op(code);
        op.ok_or_else(|| RecordError::Damaged(format!("operation {code:#x}")))
    }

    fn block(&mut self, cursor: &mut Cursor) -> Result<(), RecordError> {
        let start = self.block_invocations(cursor)?;
        if self.block_answers(cursor) < self.block.len() {
            // What is wrong with the one that could not be read.
            return Err(self
                .block_answer(cursor)
                .map_or_else(|error| error, |_| RecordError::Short));
        }
        let end = end(start, cursor.varint()?)?;
        self.push_block(self.block.len(), (start, end))
    }

    /// Reads the invocations of a block, and their stamp.
    fn block_invocations(&mut self, cursor: &mut Cursor) -> Result<u64, RecordError> {
        self.block.clear();
        self.args.clear();
        self.results.clear();
        cursor.byte()?;
        for _ in 0..cursor.count()? {
            let (op, from) = (self.op(cursor.byte()?)?, self.args.len());
            cursor.values(&mut self.args)?;
            self.block.push(BlockCall { op, args: from..self.args.len(), answer: None });
        }
        cursor.stamp()
    }

    /// Reads the answers of a block, as far as they go. Returns how many there are.
    fn block_answers(&mut self, cursor: &mut Cursor) -> usize {
        for call in 0..self.block.len() {
            let at = cursor.at;
            match self.block_answer(cursor) {
                Ok(answer) => self.block[call].answer = answer,
                Err(_) => {
                    cursor.at = at;
                    return call;
                }
            }
        }
        self.block.len()
    }

    /// The next answer of a block; none if the target did nothing.
    fn block_answer(
        &mut self,
        cursor: &mut Cursor,
    ) -> Result<Option<(Status, Range<usize>)>, RecordError> {
        let code = cursor.byte()?;
        if code == UNSUPPORTED {
            return Ok(None);
        }
        let from = self.results.len();
        cursor.values(&mut self.results)?;
        Ok(Some((status(code)?, from..self.results.len())))
    }

    /// Pushes the answered calls of a block that was not ended, which returned at unknown instants,
    /// and the call after them, which did not.
    fn push_unended_block(&mut self, start: u64, answered: usize) -> Result<(), RecordError> {
        if let Some(call) = self.block.get_mut(answered) {
            call.answer = Some((Status::Pending, 0..0));
        }
        self.push_block(self.block.len().min(answered + 1), (start, LATE))
    }

    /// Pushes the first calls of the block that was read.
    fn push_block(&mut self, calls: usize, timebox: (u64, u64)) -> Result<(), RecordError> {
        let (block, args) = (std::mem::take(&mut self.block), std::mem::take(&mut self.args));
        let results = std::mem::take(&mut self.results);
        let mut thread = 0;
        for BlockCall { op, args: of_call, answer } in &block[..calls] {
            let Some((status, answer)) = answer else { continue };
            self.args.clear();
            self.args.extend_from_slice(&args[of_call.clone()]);
            thread = 1 + self.push(thread, *op, *status, timebox, &results[answer.clone()])?;
        }
        (self.block, self.args, self.results) = (block, args, results);
        Ok(())
    }

    /// Appends an operation to the first thread from `first` on that goes on, and returns which.
    fn push(
        &mut self,
        first: usize,
        op: Op,
        status: Status,
        (start, end): (u64, u64),
        results: &[i64],
    ) -> Result<usize, RecordError> {
        let going_on = (first..self.threads.len()).find(|at| !self.threads[*at].is_retired());
        let thread = going_on.unwrap_or_else(|| {
            self.threads.push(Thread::new(self.client));
            self.threads.len() - 1
        });
        let entry = Entry { op, status, start, end, args: &self.args, results };
        let pushed = self.threads[thread].push(entry).map_err(|misfit| match misfit {
            Misfit::Shape(text) => RecordError::Adapter(text),
            Misfit::Order(text) => RecordError::Damaged(text),
        });
        pushed.map(|()| thread)
    }
}

fn status(code: u8) -> Result<Status, RecordError> {
    let status = Status::from_code(code.into());
    status.ok_or_else(|| RecordError::Damaged(format!("status {code}")))
}

fn end(start: u64, duration: u64) -> Result<u64, RecordError> {
    let end = start.checked_add(duration);
    end.ok_or_else(|| RecordError::Damaged(format!("duration {duration}")))
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

    /// A number of values in a call, or of calls in a block.
    fn count(&mut self) -> Result<u64, RecordError> {
        let count = self.varint()?;
        let is_possible = count <= u64::from(u16::MAX);
        is_possible.then_some(count).ok_or_else(|| {
            RecordError::Damaged(format!("{count} values in a call, or calls in a block"))
        })
    }

    /// Appends the values of a call.
    fn values(&mut self, values: &mut Vec<i64>) -> Result<(), RecordError> {
        for _ in 0..self.count()? {
            let zigzag = self.varint()?;
            values.push((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64));
        }
        Ok(())
    }
}
