//! Compares the check of S2's streams with the enumeration: conditional appends of batches, some
//! refused, some of unknown outcome. The sequential object here keeps every record.

use interlap::check::{Limits, check};
use interlap::core::history::{History, OperationId};
use interlap::core::operation::{Op, Status};
use interlap::model::{Call, Model};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::agreement::{Shares, assert_agrees};
use super::brute;
use super::corrupt::{corrupt, tie};
use super::random::{Random, Record, written};

const NOBODY: OperationId = OperationId { thread: 0, index: 0 };

/// Stands for "none" among the conditions.
const NONE: i64 = i64::MIN;

/// All records since a tail and a hash, and the fencing token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    before: (i64, i64),
    records: Vec<i64>,
    pub token: i64,
}

impl Held {
    pub const NOTHING: Held = Held { before: (0, 0), records: Vec::new(), token: NONE };

    pub fn tail(&self) -> i64 {
        self.before.0 + self.records.len() as i64
    }

    /// The hash of S2's verifier.
    pub fn hash(&self) -> i64 {
        let chain = |hash: u64, record: &i64| xxh3_64_with_seed(&record.to_le_bytes(), hash);
        self.records.iter().fold(self.before.1 as u64, chain) as i64
    }

    /// The same with no records left to hash.
    pub fn hashed(self) -> Held {
        Held { before: (self.tail(), self.hash()), records: Vec::new(), ..self }
    }
}

pub fn is_one(history: &History) -> bool {
    history.ids().any(|id| history.operation(id).op.is_of_streams())
}

/// The sequential object.
pub struct Records;

impl Model<Call<'_>> for Records {
    type State = Held;

    fn init(&self) -> Held {
        Held::NOTHING
    }

    fn step(&self, held: &Held, call: &Call, next: &mut Vec<Held>) {
        let mut held = held.clone();
        if call.op == Op::LogRestore {
            if held != Held::NOTHING {
                return;
            }
            let before = (call.args[0], call.args[1]);
            held = Held { before, records: Vec::new(), token: call.args[2] };
        }
        if call.op == Op::LogAppendBatch && call.status != Status::Failed {
            if call.args[0] != NONE && call.args[0] != held.tail()
                || call.args[1] != NONE && call.args[1] != held.token
            {
                return;
            }
            held.records.extend_from_slice(&call.args[3..]);
            if call.args[2] != NONE {
                held.token = call.args[2];
            }
        }
        let right = match call.results {
            [] => true,
            [tail] => *tail == held.tail(),
            results => results == [held.tail(), held.hash()],
        };
        if right {
            next.push(held);
        }
    }
}

/// Draws a call of a stream in this state; its conditions hold more often than not.
pub fn call(held: &Held, value: &mut i64, random: &mut Random) -> Record {
    let op = match random.below(5) {
        0..=2 => Op::LogAppendBatch,
        3 => Op::LogReadAll,
        _ => Op::LogCheckTail,
    };
    let mut args = Vec::new();
    if op == Op::LogAppendBatch {
        let at = held.tail() + i64::from(random.percent(15));
        args.push(if random.percent(40) { at } else { NONE });
        let wanted = if random.percent(85) { held.token } else { 1 };
        args.push(if random.percent(40) { wanted } else { NONE });
        args.push(if random.percent(25) { random.below(3) as i64 } else { NONE });
        for _ in 0..random.below(3) {
            // Some records are equal.
            *value += i64::from(random.percent(80));
            args.push(*value);
        }
    }
    Record { op, status: Status::Ok, start: 0, end: 0, args, results: Vec::new() }
}

/// Gives the call's answer, and changes the state.
pub fn answer(record: &mut Record, state: &mut Held, random: &mut Random) {
    let call = |record: &Record| -> Vec<Held> {
        let Record { op, status, args, .. } = record;
        let call = Call { op: *op, status: *status, args, results: &[], id: NOBODY, queue: None };
        let mut next = Vec::new();
        Records.step(state, &call, &mut next);
        next
    };
    let after =
        call(record).pop().filter(|_| record.op != Op::LogAppendBatch || !random.percent(8));
    match after {
        Some(after) => *state = after,
        None => record.status = Status::Failed,
    }
    let tail = state.tail();
    record.results = match (record.op, record.status) {
        (_, Status::Failed) => Vec::new(),
        (Op::LogReadAll, _) => vec![tail, state.hash()],
        _ => vec![tail],
    };
}

/// Calls of some clients, each with one linearization point, sometimes corrupted. So many percent
/// have an unknown outcome; the last ones may be pending.
pub fn random_history(
    random: &mut Random,
    (least, more): (usize, usize),
    unknown: usize,
) -> History {
    let (clients, calls) = (2 + random.below(3), least + random.below(more));
    let mut records: Vec<Vec<Record>> = vec![Vec::new(); clients];
    let mut open: Vec<Option<(Record, bool)>> = vec![None; clients];
    let (mut state, mut value, mut clock, mut begun) = (Held::NOTHING, 0, 0, 0);
    while begun < calls || open.iter().any(Option::is_some) {
        let at = random.below(clients);
        clock += 1;
        open[at] = match open[at].take() {
            None if begun == calls => None,
            None => {
                begun += 1;
                Some((Record { start: clock, ..call(&state, &mut value, random) }, false))
            }
            Some((mut record, false)) => {
                answer(&mut record, &mut state, random);
                Some((record, true))
            }
            Some((record, true)) => {
                records[at].push(Record { end: clock, ..record });
                None
            }
        };
    }
    for last in records.iter_mut().filter_map(|records| records.last_mut()) {
        if random.percent(30) {
            last.status = [Status::Pending, Status::Unknown][random.below(2)];
            last.results.clear();
        }
    }
    for record in records.iter_mut().flatten().filter(|record| !record.status.is_open()) {
        if random.percent(unknown) {
            record.status = Status::Unknown;
            record.results.clear();
        }
    }
    for _ in 0..random.below(3) {
        let wrong = random.below(4) as i64;
        corrupt(&mut records, wrong, random);
    }
    if random.percent(30) {
        tie(&mut records);
    }
    written(&records)
}

/// Compares `check` with the enumeration.
pub fn compare(histories: usize) {
    let histories = crate::how_many(histories);
    let spec = "log".parse().expect("a model");
    let (mut random, mut shares) = (Random::new(31), Shares::default());
    for _ in 0..histories {
        let history = random_history(&mut random, (3, 6), 0);
        let explained = brute::explained(&history, &spec);
        shares.note(explained);
        let verdict = check(&history, &spec, &Limits::default());
        assert_agrees(&verdict, explained, &spec, &history, "check");
    }
    shares.assert_healthy("log, batches");
}

#[test]
fn streams_of_batches() {
    compare(100_000);
}
