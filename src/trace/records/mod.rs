//! The binary layout of one thread's recorded calls, with its writer and reader.
//! Bytes are written before and after each call. They are complete at any instant: a thread that
//! dies inside a call leaves that call pending.
//!
//! ```text
//! before the call   op: u8    arguments: count, values    start: u64, little endian
//! after the call    status: u8    end - start: varint    results: count, values
//! ```
//! Counts are LEB128 varints, values zigzag varints. A record that ends after `start` is pending.
//!
//! Calls that follow each other without a stamp in between are one record, a block. Each has the
//! timebox of the whole block.
//!
//! ```text
//! before the calls  BLOCK: u8    calls: varint    of each: op, arguments    start: u64
//! after each        status: u8, results    or UNSUPPORTED: u8
//! after the last    end - start: varint
//! ```
//! A block without its end has one pending call, after those that have a response.
//!
//! - `reader`: Reads one client's records, in pieces of any size.
//! - `seal`: The checksum by which a thread's records show whether the target has overwritten them.
//! - `writer`: Writes a thread's records into its memory, before and after each call.

mod reader;
mod seal;
mod writer;

use crate::core::history::{History, NEVER, OperationId};
use crate::core::method::Methods;
use crate::core::operation::{Op, Status};

pub use reader::{Reader, RecordError};
pub use seal::Seal;
pub use writer::Writer;

/// Begins a block. No operation has this code.
const BLOCK: u8 = 0xff;
/// In place of a call's status: the target did nothing, and the call is no part of the history.
const UNSUPPORTED: u8 = 0xff;

/// Minimum number of bytes of a record.
pub const SIZE_MIN: usize = 1 + 1 + 8 + 1 + 1 + 1;

/// Maximum number of bytes of a record with `values` arguments and results.
pub const fn size_max(values: usize) -> usize {
    1 + 3 + 8 + 1 + VARINT_MAX + 3 + values * VARINT_MAX
}

const VARINT_MAX: usize = 10;

/// The records of a client's operations, as a harness writes them of a target with these methods.
pub fn encode(history: &History, client: u32, methods: &Methods) -> Vec<u8> {
    let (ids, mut bytes) = (history.program_order(client), Vec::new());
    for calls in ids.chunk_by(|a, b| history.operation(*a).start == history.operation(*b).start) {
        let values = |id: &OperationId| history.args(*id).len() + history.results(*id).len();
        let from = bytes.len();
        bytes.resize(from + calls.iter().map(|id| size_max(values(id))).sum::<usize>(), 0);
        let mut writer = Writer::new(&mut bytes[from..]);
        match calls {
            [call] => put_call(&mut writer, history, methods, *call),
            calls => put_block(&mut writer, history, methods, calls),
        }
        let written = writer.len();
        bytes.truncate(from + written);
    }
    bytes
}

fn put_call(writer: &mut Writer, history: &History, methods: &Methods, id: OperationId) {
    let operation = history.operation(id);
    writer.call(code(methods, operation.op), history.args(id));
    writer.start(operation.start);
    if operation.status != Status::Pending {
        let duration = operation.end.saturating_sub(operation.start);
        let duration = if operation.status.is_open() { 0 } else { duration };
        writer.answer(operation.status as u8, duration, history.results(id));
    }
}

fn put_block(writer: &mut Writer, history: &History, methods: &Methods, calls: &[OperationId]) {
    writer.block(calls.len());
    for id in calls {
        writer.call(code(methods, history.operation(*id).op), history.args(*id));
    }
    let start = history.operation(calls[0]).start;
    writer.start(start);
    let answered = calls.iter().filter(|id| history.operation(**id).status != Status::Pending);
    for id in answered.clone() {
        writer.respond(Some((history.operation(*id).status as u8, history.results(*id))));
    }
    if answered.clone().count() == calls.len() {
        let ends = answered.map(|id| history.operation(*id).end).filter(|end| *end != NEVER);
        writer.close(ends.max().unwrap_or(start) - start);
    }
}

fn code(methods: &Methods, op: Op) -> u8 {
    methods.code(op).expect("a history of this target has its methods alone")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::history::{Entry, LATE, Thread};

    fn sample() -> History {
        let mut history = History::default();
        let mut push = |op, status, start, end, args: &[i64], results: &[i64]| {
            history.push(4, Entry { op, status, start, end, args, results }).expect("valid")
        };
        push(Op::Enqueue, Status::Ok, 5, 9, &[i64::MIN], &[]);
        push(Op::EnqueueBulk, Status::Ok, 1 << 60, (1 << 60) + 300, &[1, -1, i64::MAX], &[2]);
        push(Op::Dequeue, Status::Ok, (1 << 61) + 1, 1 << 62, &[], &[-77]);
        push(Op::Enqueue, Status::Pending, 1 << 63, 0, &[8], &[]);
        history
    }

    #[test]
    fn records_round_trip_in_pieces_of_any_size() {
        let history = sample();
        let bytes = encode(&history, 4, &Methods::default());
        for size in 1..=bytes.len() {
            let mut reader = Reader::new(4, Methods::default());
            for piece in bytes.chunks(size) {
                reader.feed(piece).expect("sound");
            }
            assert_eq!(reader.finish().expect("sound"), history.threads);
        }
    }

    #[test]
    fn records_cut_at_any_byte_give_a_prefix_or_an_error() {
        let (history, bytes) = (sample(), encode(&sample(), 4, &Methods::default()));
        for cut in 0..bytes.len() {
            let mut reader = Reader::new(4, Methods::default());
            reader.feed(&bytes[..cut]).expect("a prefix is sound");
            match reader.finish() {
                Ok(read) => assert!(read[0].operations().len() <= history.len()),
                Err(error) => assert_eq!(error, RecordError::Short),
            }
        }
    }

    /// Two blocks, of three calls and of two, whose last are of unknown outcome, and a call alone.
    fn blocks() -> (Vec<u8>, History) {
        let mut bytes = vec![0; 256];
        let mut writer = Writer::new(&mut bytes);
        let mut history = History::default();
        let (enqueue, dequeue) = ((Op::Enqueue, &[7][..]), (Op::Dequeue, &[][..]));
        let mut put = |thread: usize, (op, args), status, (start, end), results: &[i64]| {
            history.threads.resize_with(history.threads.len().max(thread + 1), || Thread::new(4));
            let entry = Entry { op, status, start, end, args, results };
            history.threads[thread].push(entry).expect("valid");
        };
        writer.block(4);
        [enqueue, dequeue, dequeue, enqueue]
            .iter()
            .for_each(|(op, args)| writer.call(op.code(), args));
        writer.start(10);
        for (status, results) in [(Status::Ok, &[][..]), (Status::Ok, &[7])] {
            writer.respond(Some((status as u8, results)));
        }
        writer.respond(None);
        writer.respond(Some((Status::Unknown as u8, &[])));
        writer.close(9);
        put(0, enqueue, Status::Ok, (10, 19), &[]);
        put(1, dequeue, Status::Ok, (10, 19), &[7]);
        put(2, enqueue, Status::Unknown, (10, 19), &[]);

        writer.call(Op::Dequeue.code(), &[]);
        writer.start(20);
        writer.answer(Status::Empty as u8, 1, &[]);
        put(0, dequeue, Status::Empty, (20, 21), &[]);

        // The thread of the third call of a block goes on no more.
        writer.block(3);
        [dequeue, dequeue, dequeue].iter().for_each(|(op, args)| writer.call(op.code(), args));
        writer.start(30);
        for thread in [0, 1, 3] {
            writer.respond(Some((Status::Empty as u8, &[])));
            put(thread, dequeue, Status::Empty, (30, 40), &[]);
        }
        writer.close(10);
        let len = writer.len();
        bytes.truncate(len);
        (bytes, history)
    }

    #[test]
    fn blocks_are_read_in_pieces_of_any_size_and_written_again() {
        let (bytes, history) = blocks();
        for size in 1..=bytes.len() {
            let mut reader = Reader::new(4, Methods::default());
            bytes.chunks(size).for_each(|piece| reader.feed(piece).expect("sound"));
            assert_eq!(reader.finish().expect("sound"), history.threads);
        }
        let mut reader = Reader::new(4, Methods::default());
        reader.feed(&encode(&history, 4, &Methods::default())).expect("sound");
        assert_eq!(reader.finish().expect("sound"), history.threads, "without the call not made");
        assert!(history.has_blocks() && !sample().has_blocks());
        let order: Vec<u32> = history.program_order(4).iter().map(|id| id.thread).collect();
        assert_eq!(order, [0, 1, 2, 0, 0, 1, 3]);
    }

    /// The calls that have an answer returned at some time; the next one did not.
    #[test]
    fn a_block_cut_off_after_each_answer_has_one_pending_call() {
        let (bytes, whole) = blocks();
        let statuses = |history: &History| -> Vec<Status> {
            let ids = history.program_order(4).into_iter();
            ids.map(|id| history.operation(id).status).collect()
        };
        let mut cut_off = 0;
        for cut in 0..bytes.len() {
            let mut reader = Reader::new(4, Methods::default());
            reader.feed(&bytes[..cut]).expect("a prefix is sound");
            let Ok(threads) = reader.finish() else { continue };
            let mut history = History { threads, ..History::default() };
            history.settle();
            let late = history.ids().any(|id| history.operation(id).end == LATE);
            assert!(!late, "every call that returned has an end");
            let (read, all) = (statuses(&history), statuses(&whole));
            let known = read.iter().take_while(|status| **status != Status::Pending).count();
            assert!(read.len() <= known + 1 && all.starts_with(&read[..known]), "{read:?}");
            cut_off += usize::from(known < read.len());
            let mut again = Reader::new(4, Methods::default());
            again.feed(&encode(&history, 4, &Methods::default())).expect("sound");
            let threads = again.finish().expect("sound");
            let mut again = History { threads, ..History::default() };
            again.settle();
            assert_eq!(statuses(&again), read);
        }
        // After none, one, two (and the call that was not made), of four and of three.
        assert_eq!(cut_off, 8);
    }

    #[test]
    fn damaged_blocks_are_errors() {
        let read = |bytes: &[u8]| Reader::new(0, Methods::default()).feed(bytes).expect_err("bad");
        assert!(matches!(read(&[BLOCK, 0xff, 0xff, 0xff, 1]), RecordError::Damaged(_)));
        let (mut bytes, _) = blocks();
        let status = 1 + 1 + 4 * 2 + 2 + 8;
        assert_eq!(bytes[status], Status::Ok as u8);
        bytes[status] = 77;
        assert!(matches!(read(&bytes), RecordError::Damaged(_)));
        bytes[status] = Status::Empty as u8;
        assert!(matches!(read(&bytes), RecordError::Adapter(_)), "no enqueue answers so");
    }

    #[test]
    fn a_seal_notices_any_changed_byte() {
        let bytes = encode(&sample(), 4, &Methods::default());
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
        let read = |bytes: &[u8]| Reader::new(0, Methods::default()).feed(bytes).expect_err("bad");
        assert!(matches!(read(&[0xfe, 0, 0]), RecordError::Damaged(_)));
        let mut bytes = [0; 64];
        let mut writer = Writer::new(&mut bytes);
        writer.call(Op::Dequeue.code(), &[]);
        writer.start(1);
        writer.answer(Status::Failed as u8, 1, &[]);
        let len = writer.len();
        assert!(matches!(read(&bytes[..len]), RecordError::Adapter(_)));
    }
}
