//! Corrupts one operation of a correct history: narrows its timebox, changes its answer, or drops
//! it. Some order may still explain the result.

use interlap::core::operation::{Op, Status};

use super::random::{Random, Record};

/// Corrupts one operation. `wrong` is a value to answer instead of the right one.
pub fn corrupt(records: &mut [Vec<Record>], wrong: i64, random: &mut Random) {
    let thread = random.below(records.len());
    if records[thread].is_empty() {
        return;
    }
    let at = random.below(records[thread].len());
    match random.below(8) {
        0..=2 => shrink(&mut records[thread][at], random),
        3 => swap(records, thread, at, random),
        4..=6 => flip(&mut records[thread][at], wrong, random.percent(50)),
        _ => drop(records[thread].remove(at)),
    }
}

fn shrink(record: &mut Record, random: &mut Random) {
    let Record { start, end, .. } = *record;
    record.start = start + random.below((end - start + 1) as usize) as u64;
    record.end = record.start + random.below((end - record.start + 1) as usize) as u64;
}

/// Swaps the answers of two operations of one kind.
fn swap(records: &mut [Vec<Record>], thread: usize, at: usize, random: &mut Random) {
    let first = records[thread][at].clone();
    let other = random.below(records.len());
    let like = |record: &Record| {
        record.op == first.op
            && !record.status.is_open()
            && record.args.len() == first.args.len()
            && record.results.len() == first.results.len()
    };
    if first.status.is_open() {
        return;
    }
    let Some(with) = records[other].iter().position(like) else { return };
    let second = records[other][with].clone();
    (records[thread][at].status, records[thread][at].results) = (second.status, second.results);
    (records[other][with].status, records[other][with].results) = (first.status, first.results);
}

/// Changes the answer of an operation.
fn flip(record: &mut Record, wrong: i64, forget: bool) {
    if record.op.adds() || record.status.is_open() {
        return;
    }
    if record.op.removes() {
        match record.results.len() {
            0 => (record.status, record.results) = (Status::Ok, vec![wrong]),
            _ if forget => (record.status, record.results) = (Status::Empty, Vec::new()),
            1 => record.results = vec![wrong],
            _ => record.results.swap(0, 1),
        }
        return;
    }
    let small = wrong.rem_euclid(3);
    match record.op {
        op if op.counts_values() && !op.is_question() => record.results = vec![small],
        Op::RegisterRead => record.results = vec![small],
        Op::RegisterWrite => record.results = if forget { Vec::new() } else { vec![small] },
        Op::SetRangeCount | Op::SetRank | Op::SetSize | Op::CounterRead | Op::LogCheckTail => {
            record.results = vec![small];
        }
        Op::LogAppend | Op::LogAppendBatch if forget => {
            (record.status, record.results) = (Status::Failed, Vec::new());
        }
        Op::LogAppend | Op::LogAppendBatch => {
            (record.status, record.results) = (Status::Ok, vec![small]);
        }
        Op::LogReadAll => record.results[usize::from(forget)] = small,
        Op::CounterAdd => record.results = if forget { Vec::new() } else { vec![small] },
        Op::LogRead if forget => (record.status, record.results) = (Status::Empty, Vec::new()),
        Op::SetSelect if forget => (record.status, record.results) = (Status::Failed, Vec::new()),
        // A value that may have been appended.
        Op::LogRead => (record.status, record.results) = (Status::Ok, vec![wrong]),
        Op::SetSelect => (record.status, record.results) = (Status::Ok, vec![small]),
        Op::SetRangeList | Op::KvGet if forget => drop(record.results.pop()),
        Op::SetRangeList | Op::KvGet => record.results.push(small),
        Op::KvPut | Op::KvAppend => {}
        Op::MapGet if record.status == Status::Failed => {
            (record.status, record.results) = (Status::Ok, vec![small]);
        }
        _ => {
            let ok = record.status == Status::Ok;
            record.status = if ok { Status::Failed } else { Status::Ok };
            record.results.clear();
        }
    }
}

/// Makes stamps of different threads equal, never two of one thread.
pub fn tie(records: &mut [Vec<Record>]) {
    for records in records {
        let mut earliest = 0;
        for record in records {
            record.start = (record.start / 2).max(earliest);
            record.end = (record.end / 2).max(record.start);
            earliest = record.end + 1;
        }
    }
}
