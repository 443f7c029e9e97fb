//! Simulates a store of transactions at several isolation levels, for random histories of it.

use std::collections::BTreeMap;

use interlap::core::history::History;
use interlap::core::operation::{Op, Status};

use super::corrupt::tie;
use super::random::{Random, Record, written};

/// How well a simulated store isolates transactions.
#[derive(Clone, Copy, PartialEq)]
pub enum Store {
    Snapshot,
    /// As a snapshot, but both of two writers commit.
    NoConflicts,
    /// One transaction after another.
    Serial,
    /// Each read finds the latest commit.
    Committed,
}

const STORES: [Store; 4] = [Store::Snapshot, Store::NoConflicts, Store::Serial, Store::Committed];

type Values = BTreeMap<i64, i64>;

/// A transaction under way.
#[derive(Clone, Default)]
struct Running {
    snapshot: Option<(usize, Values)>,
    own: BTreeMap<i64, Option<i64>>,
    left: usize,
}

/// A run of the store, in which any number of calls overlap.
pub struct Simulation<'a> {
    store: Store,
    /// If begins and commits answer timestamps, the number of commits so far: how many commits old
    /// a snapshot may be.
    stamped: Option<usize>,
    /// Whether a thread goes on for a while before another does, as natively where threads are more
    /// than processors: the others are stopped in the middle of calls.
    bursts: bool,
    keys: usize,
    random: &'a mut Random,
    /// After each commit: the committed values, and the changed keys.
    versions: Vec<(Values, Vec<i64>)>,
    running: Vec<Option<Running>>,
    records: Vec<Vec<Record>>,
    begun: usize,
    clock: u64,
    value: i64,
}

impl<'a> Simulation<'a> {
    pub fn new(
        threads: usize,
        store: Store,
        stamped: Option<usize>,
        random: &'a mut Random,
    ) -> Simulation<'a> {
        Simulation {
            store,
            stamped,
            bursts: false,
            keys: 2,
            random,
            versions: vec![(Values::new(), Vec::new())],
            running: vec![None; threads],
            records: vec![Vec::new(); threads],
            begun: 0,
            clock: 0,
            value: 0,
        }
    }

    /// As of fifty native threads on a few processors.
    pub fn of_many(random: &'a mut Random, oldest: usize) -> Simulation<'a> {
        let few = Simulation::new(50, Store::Snapshot, Some(oldest), random);
        Simulation { bursts: true, keys: 16, ..few }
    }

    fn committed(&self) -> &Values {
        &self.versions[self.versions.len() - 1].0
    }

    /// Draws the next call of a thread; none if it has no more.
    fn call(&mut self, thread: usize, transactions: usize) -> Option<(Op, Vec<i64>)> {
        let Some(running) = &mut self.running[thread] else {
            let alone = self.store != Store::Serial || self.running.iter().all(Option::is_none);
            if self.begun == transactions || !alone {
                return None;
            }
            self.begun += 1;
            let left = self.random.below(4);
            self.running[thread] = Some(Running { left, ..Running::default() });
            return Some((Op::StoreBegin, Vec::new()));
        };
        if running.left == 0 {
            let op = if self.random.percent(15) { Op::StoreAbort } else { Op::StoreCommit };
            return Some((op, Vec::new()));
        }
        running.left -= 1;
        let key = self.random.below(self.keys) as i64;
        Some(match self.random.below(10) {
            0..=4 => (Op::StoreRead, vec![key]),
            5 => (Op::StoreRemove, vec![key]),
            _ => {
                self.value += 1;
                // Sometimes a value that was written before.
                let value = if self.random.percent(10) { 1 } else { self.value };
                (Op::StoreWrite, vec![key, value])
            }
        })
    }

    fn answer(&mut self, thread: usize, op: Op, args: &[i64]) -> (Status, Vec<i64>) {
        let versions = self.versions.len();
        let committed = self.committed().clone();
        let mut running = self.running[thread].take().expect("a transaction is running");
        if op != Op::StoreBegin && running.snapshot.is_none() {
            running.snapshot = Some((versions, committed.clone()));
        }
        if let (Op::StoreBegin, Some(oldest)) = (op, self.stamped) {
            let back = if self.random.percent(20) { self.random.below(oldest + 1) } else { 0 };
            let at = (versions - 1).saturating_sub(back);
            running.snapshot = Some((at + 1, self.versions[at].0.clone()));
            self.running[thread] = Some(running);
            return (Status::Ok, vec![at as i64]);
        }
        let view = match (&running.snapshot, self.store) {
            (Some((_, snapshot)), Store::Snapshot | Store::NoConflicts) => snapshot,
            _ => &committed,
        };
        let found =
            |key: i64| running.own.get(&key).copied().unwrap_or_else(|| view.get(&key).copied());
        let answer = match op {
            Op::StoreRead => match found(args[0]) {
                Some(value) => (Status::Ok, vec![value]),
                None => (Status::Failed, Vec::new()),
            },
            Op::StoreRemove if found(args[0]).is_none() && self.random.percent(50) => {
                (Status::Empty, Vec::new())
            }
            Op::StoreRemove => {
                running.own.insert(args[0], None);
                (Status::Ok, Vec::new())
            }
            Op::StoreWrite => {
                running.own.insert(args[0], Some(args[1]));
                (Status::Ok, Vec::new())
            }
            Op::StoreCommit => match self.commit(&running) {
                Status::Ok if self.stamped.is_some() => {
                    (Status::Ok, vec![self.versions.len() as i64 - 1])
                }
                status => (status, Vec::new()),
            },
            _ => (Status::Ok, Vec::new()),
        };
        if !matches!(op, Op::StoreCommit | Op::StoreAbort) {
            self.running[thread] = Some(running);
        }
        answer
    }

    fn commit(&mut self, running: &Running) -> Status {
        let seen = running.snapshot.as_ref().map_or(self.versions.len(), |(seen, _)| *seen);
        let mut since = self.versions[seen..].iter();
        let clash = since.any(|(_, keys)| keys.iter().any(|key| running.own.contains_key(key)));
        if clash && self.store == Store::Snapshot {
            return Status::Failed;
        }
        let mut values = self.committed().clone();
        for (key, value) in &running.own {
            match value {
                Some(value) => drop(values.insert(*key, *value)),
                None => drop(values.remove(key)),
            }
        }
        self.versions.push((values, running.own.keys().copied().collect()));
        Status::Ok
    }

    /// The timestamp of the latest commit.
    pub fn now(&self) -> i64 {
        self.versions.len() as i64 - 1
    }

    /// The last value under `key` that another has replaced.
    pub fn replaced(&self, key: i64) -> i64 {
        let latest = self.committed().get(&key);
        let each = self.versions.iter().rev().map(|(values, _)| values.get(&key));
        each.filter(|value| *value != latest).flatten().next().copied().expect("it was replaced")
    }

    pub fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Goes on until so many transactions were begun in all and every call has returned. What was
    /// called since the last time, a list for each thread.
    pub fn run(&mut self, transactions: usize) -> Vec<Vec<Record>> {
        let threads = self.running.len();
        // A call, and its answer if it has taken effect.
        let mut calls: Vec<Option<(Record, bool)>> = vec![None; threads];
        let (mut idle, mut thread) = (0, 0);
        while idle < 50 * threads {
            if idle > 0 || !self.bursts || self.random.percent(5) {
                thread = self.random.below(threads);
            }
            idle += 1;
            match calls[thread].take() {
                None => {
                    let Some((op, args)) = self.call(thread, transactions) else { continue };
                    let (start, status) = (self.tick(), Status::Ok);
                    let record = Record { op, status, start, end: 0, args, results: Vec::new() };
                    calls[thread] = Some((record, false));
                }
                Some((mut record, false)) => {
                    let args = record.args.clone();
                    (record.status, record.results) = self.answer(thread, record.op, &args);
                    calls[thread] = Some((record, true));
                }
                Some((mut record, true)) => {
                    record.end = self.tick();
                    self.records[thread].push(record);
                }
            }
            idle = 0;
        }
        std::mem::replace(&mut self.records, vec![Vec::new(); threads])
    }
}

/// Changes an answer, or narrows a timebox.
fn corrupt(records: &mut [Vec<Record>], random: &mut Random) {
    let thread = random.below(records.len());
    if records[thread].is_empty() {
        return;
    }
    let at = random.below(records[thread].len());
    let record = &mut records[thread][at];
    match (random.below(3), record.op) {
        (0, _) => record.start = record.end,
        (1, Op::StoreRead) => {
            record.status = Status::Ok;
            record.results = vec![random.below(5) as i64];
        }
        (_, Op::StoreRead) => (record.status, record.results) = (Status::Failed, Vec::new()),
        (_, Op::StoreCommit) => {
            record.status = Status::Failed;
            record.results.clear();
        }
        _ => {}
    }
}

/// Changes some timestamps, makes them arguments, or drops them.
fn restamp(records: &mut [Vec<Record>], random: &mut Random) {
    for record in records.iter_mut().flatten() {
        let Record { op: Op::StoreBegin | Op::StoreCommit, args, results, .. } = record else {
            continue;
        };
        let [stamp] = &mut results[..] else { continue };
        match random.below(20) {
            0 => *stamp += 1,
            1 => *stamp -= 1,
            2 => results.clear(),
            3..=9 => args.push(results.remove(0)),
            _ => {}
        }
    }
}

/// A history of a few transactions and `more`, sometimes corrupted.
pub fn random_history(random: &mut Random, more: usize) -> History {
    let threads = 2 + random.below(2);
    let store = STORES[random.below(4)];
    let stamped = random.percent(50).then_some(2);
    let mut simulation = Simulation::new(threads, store, stamped, random);
    let transactions = 2 + more + simulation.random.below(4);
    let mut records = simulation.run(transactions);
    if random.percent(60) {
        corrupt(&mut records, random);
    }
    restamp(&mut records, random);
    for records in &mut records {
        if random.percent(15)
            && let Some(last) = records.last_mut()
        {
            last.status = if random.percent(50) { Status::Pending } else { Status::Unknown };
            last.results.clear();
        }
    }
    if random.percent(30) {
        tie(&mut records);
    }
    written(&records)
}
