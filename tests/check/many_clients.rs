//! Checks histories of many clients, of whose calls dozens are under way at any time.

use std::collections::BTreeMap;

use interlap::check::{Limits, Online, Verdict, check};
use interlap::core::history::{Entry, History};
use interlap::core::operation::{Op, Status};
use interlap::model::Spec;

use super::random::{Random, Record, written};

const CLIENTS: usize = 50;
const KEYS: usize = 8;

/// A transaction under way.
#[derive(Clone, Default)]
struct Running {
    read_at: i64,
    writes: BTreeMap<i64, i64>,
    left: usize,
}

/// A store that commits in the order of its timestamps, and whose snapshots show what was committed
/// when they were begun.
struct Store<'a> {
    random: &'a mut Random,
    /// By key: timestamps and values.
    versions: BTreeMap<i64, Vec<(i64, i64)>>,
    now: i64,
    value: i64,
    clock: u64,
    running: Vec<Option<Running>>,
    records: Vec<Vec<Record>>,
    /// Calls that have taken effect and did not return yet, by client.
    returning: Vec<Option<Record>>,
}

impl<'a> Store<'a> {
    fn new(random: &'a mut Random) -> Store<'a> {
        Store {
            random,
            versions: BTreeMap::new(),
            now: 0,
            value: 0,
            clock: 1,
            running: vec![None; CLIENTS],
            records: vec![Vec::new(); CLIENTS],
            returning: vec![None; CLIENTS],
        }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Each client makes so many transactions, one call overlapping dozens of others.
    fn run(&mut self, transactions: usize) -> History {
        let mut left = [transactions; CLIENTS];
        loop {
            let goes_on = |client: &usize| {
                let idle = self.returning[*client].is_none() && self.running[*client].is_none();
                left[*client] > 0 || !idle
            };
            let clients: Vec<usize> = (0..CLIENTS).filter(goes_on).collect();
            if clients.is_empty() {
                let records = std::mem::replace(&mut self.records, vec![Vec::new(); CLIENTS]);
                return written(&records);
            }
            let client = clients[self.random.below(clients.len())];
            if let Some(mut record) = self.returning[client].take() {
                record.end = self.tick();
                self.records[client].push(record);
                continue;
            }
            let start = self.tick();
            if self.running[client].is_none() {
                left[client] -= 1;
            }
            let (op, args, status, results) = self.call(client);
            self.returning[client] = Some(Record { op, status, start, end: 0, args, results });
        }
    }

    fn call(&mut self, client: usize) -> (Op, Vec<i64>, Status, Vec<i64>) {
        let Some(mut running) = self.running[client].take() else {
            let (read_at, left) = (self.now, 1 + self.random.below(3));
            self.running[client] = Some(Running { read_at, left, ..Running::default() });
            return (Op::StoreBegin, Vec::new(), Status::Ok, vec![read_at]);
        };
        if running.left == 0 {
            return self.commit(&running);
        }
        running.left -= 1;
        let key = self.random.below(KEYS) as i64;
        let answer = if self.random.percent(50) {
            self.value += 1;
            running.writes.insert(key, self.value);
            (Op::StoreWrite, vec![key, self.value], Status::Ok, Vec::new())
        } else {
            let visible = |(at, _): &&(i64, i64)| *at <= running.read_at;
            let committed = self.versions.get(&key).and_then(|of| of.iter().rfind(visible));
            let found = running.writes.get(&key).or(committed.map(|(_, value)| value));
            let status = if found.is_some() { Status::Ok } else { Status::Failed };
            (Op::StoreRead, vec![key], status, found.copied().into_iter().collect())
        };
        self.running[client] = Some(running);
        answer
    }

    fn commit(&mut self, running: &Running) -> (Op, Vec<i64>, Status, Vec<i64>) {
        let latest = |key: &i64| self.versions.get(key)?.last().map(|(at, _)| *at);
        let mut keys = running.writes.keys();
        if keys.any(|key| latest(key).is_some_and(|at| at > running.read_at)) {
            return (Op::StoreCommit, Vec::new(), Status::Failed, Vec::new());
        }
        if running.writes.is_empty() {
            return (Op::StoreCommit, Vec::new(), Status::Ok, vec![running.read_at]);
        }
        self.now += 1;
        for (key, value) in &running.writes {
            self.versions.entry(*key).or_default().push((self.now, *value));
        }
        (Op::StoreCommit, Vec::new(), Status::Ok, vec![self.now])
    }
}

fn snapshot() -> Spec {
    "snapshot".parse().expect("a model")
}

/// A general search would need far more.
fn few_steps() -> Limits {
    Limits { steps_max: 10_000, ..Limits::default() }
}

#[test]
fn snapshots_of_many_clients_are_decided_without_a_search() {
    let mut random = Random::new(5);
    for _ in 0..20 {
        let mut store = Store::new(&mut random);
        let history = store.run(40);
        assert_eq!(check(&history, &snapshot(), &few_steps()), Verdict::Consistent);
    }
}

#[test]
fn snapshots_of_many_clients_are_pruned_and_a_stale_read_is_found() {
    let mut random = Random::new(6);
    let mut store = Store::new(&mut random);
    let mut online = Online::new(snapshot(), few_steps()).at_rest();
    for _ in 0..60 {
        online.append(store.run(3)).expect("in order");
        assert_eq!(online.look_at_rest(), None);
    }
    // What is as old as others have read stays.
    let (held, returned) = (online.held().1 as u64, online.returned());
    assert!(5 * held < returned, "{held} of {returned} held");
    let (key, versions) = store.versions.first_key_value().expect("some were committed");
    let (key, (_, replaced)) = (*key, versions[versions.len() - 2]);
    let (now, mut stale) = (store.now, History::default());
    for (op, args, results) in [
        (Op::StoreBegin, vec![], vec![now]),
        (Op::StoreRead, vec![key], vec![replaced]),
        (Op::StoreCommit, vec![], vec![now]),
    ] {
        let (start, end) = (store.tick(), store.tick());
        let entry = Entry { op, status: Status::Ok, start, end, args: &args, results: &results };
        stale.push(0, entry).expect("in order");
    }
    online.append(stale).expect("in order");
    let (verdict, _) = online.finish(false);
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
}
