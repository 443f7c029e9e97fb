//! Compares the checker of transactions on lists with an enumeration of all orders of a few
//! transactions, and checks the names of the cycles.

use std::collections::{BTreeMap, BTreeSet};

use interlap::check::{Explanation, Limits, OfTransactions, Undecided, Verdict, Witness, check};
use interlap::core::history::{History, OperationId};
use interlap::core::operation::{Op, Status};
use interlap::model::{Consistency, Spec};

use super::agreement::{Shares, assert_agrees};
use super::corrupt::tie;
use super::random::{Random, Record, written};

const SPECS: [&str; 2] = ["serializable", "serializable:consistency=unordered"];

/// A transaction, as the enumeration sees it.
struct Transaction {
    start: u64,
    /// None if whether it committed is open.
    end: Option<u64>,
    operations: Vec<OperationId>,
}

/// Those that committed or may have.
fn transactions(history: &History) -> Vec<Transaction> {
    let mut all: Vec<Transaction> = Vec::new();
    for id in history.ids() {
        let operation = history.operation(id);
        match operation.op {
            Op::StoreBegin => {
                let start = operation.start;
                all.push(Transaction { start, end: None, operations: Vec::new() });
            }
            Op::StoreAbort => drop(all.pop()),
            Op::StoreCommit => {
                let end = (operation.status == Status::Ok).then_some(operation.end);
                all.last_mut().expect("begun").end = end;
            }
            _ => all.last_mut().expect("begun").operations.push(id),
        }
    }
    all
}

type Lists = BTreeMap<i64, Vec<i64>>;

/// The lists after the transaction; none if it could not have read what it did.
fn run(history: &History, transaction: &Transaction, lists: &Lists) -> Option<Lists> {
    let mut lists = lists.clone();
    for id in &transaction.operations {
        let args = history.args(*id);
        let list = lists.entry(args[0]).or_default();
        match history.operation(*id).op {
            Op::StoreAppend if history.operation(*id).status == Status::Failed => {}
            Op::StoreAppend => list.push(args[1]),
            _ if list[..] != *history.results(*id) => return None,
            _ => {}
        }
    }
    Some(lists)
}

/// Whether some order of all that committed, and of some that may have, explains what they read.
fn explained(history: &History, in_time: bool) -> bool {
    let all = transactions(history);
    let left: BTreeSet<usize> = (0..all.len()).collect();
    explore(history, &all, in_time, &left, &Lists::new())
}

fn explore(
    history: &History,
    all: &[Transaction],
    in_time: bool,
    left: &BTreeSet<usize>,
    lists: &Lists,
) -> bool {
    let mut ends = left.iter().filter_map(|at| all[*at].end);
    let Some(first_end) = ends.clone().next().and(ends.by_ref().min()) else { return true };
    left.iter().any(|&at| {
        let in_order = !in_time || all[at].start <= first_end;
        let after = in_order.then(|| run(history, &all[at], lists)).flatten();
        after.is_some_and(|after| {
            let mut left = left.clone();
            left.remove(&at);
            explore(history, all, in_time, &left, &after)
        })
    })
}

/// What a simulated transaction is to do, and how far it has come.
struct Running {
    steps: usize,
    commits: Status,
    own: Vec<(i64, i64)>,
    /// The lists that it sees, where it takes a snapshot.
    snapshot: Option<Lists>,
}

/// A store of two lists that isolates transactions more or less.
struct Store<'a> {
    random: &'a mut Random,
    lists: Lists,
    value: i64,
    takes_snapshots: bool,
    /// Whether others may see what a transaction appends before it commits.
    is_leaky: bool,
}

type Call = (Op, Status, Vec<i64>, Vec<i64>);

impl Store<'_> {
    fn begin(&mut self) -> Running {
        let commits = match self.random.below(10) {
            0 => Status::Failed,
            1 | 2 => Status::Unknown,
            _ => Status::Ok,
        };
        let snapshot = self.takes_snapshots.then(|| self.lists.clone());
        Running { steps: self.random.below(4), commits, own: Vec::new(), snapshot }
    }

    fn append(&mut self, this: &mut Running, key: i64) -> Call {
        self.value += 1;
        let status = if self.random.percent(95) { Status::Ok } else { Status::Failed };
        match status {
            Status::Failed => {}
            _ if self.is_leaky && self.random.percent(30) => {
                self.lists.entry(key).or_default().push(self.value);
            }
            _ => this.own.push((key, self.value)),
        }
        (Op::StoreAppend, status, vec![key, self.value], vec![])
    }

    fn read(&self, this: &Running, key: i64) -> Call {
        let seen = this.snapshot.as_ref().unwrap_or(&self.lists);
        let mut list = seen.get(&key).cloned().unwrap_or_default();
        let own = this.own.iter().filter(|(other, _)| *other == key);
        list.extend(own.map(|(_, value)| *value));
        (Op::StoreReadList, Status::Ok, vec![key], list)
    }

    fn end(&mut self, this: &Running) -> Call {
        let takes_effect = match this.commits {
            Status::Ok => true,
            Status::Unknown => self.random.percent(60),
            _ => self.random.percent(10),
        };
        for (key, value) in this.own.iter().filter(|_| takes_effect) {
            self.lists.entry(*key).or_default().push(*value);
        }
        match this.commits {
            Status::Failed => (Op::StoreAbort, Status::Ok, vec![], vec![]),
            status => (Op::StoreCommit, status, vec![], vec![]),
        }
    }
}

/// Transactions of three clients, and some reads changed.
fn random_history(random: &mut Random) -> History {
    let is_serial = random.percent(40);
    let takes_snapshots = random.percent(50);
    let is_leaky = !is_serial && !takes_snapshots;
    let mut to_begin = 2 + random.below(5);
    let mut store = Store { random, lists: Lists::new(), value: 0, takes_snapshots, is_leaky };
    let mut records: Vec<Vec<Record>> = vec![Vec::new(); 3];
    let mut running: Vec<Option<Running>> = records.iter().map(|_| None).collect();
    let mut clock = 0;
    while to_begin > 0 || running.iter().any(Option::is_some) {
        let busy = running.iter().position(Option::is_some).filter(|_| is_serial);
        let client = busy.unwrap_or_else(|| store.random.below(3));
        let (op, status, args, results) = match running[client].take() {
            None if to_begin == 0 => continue,
            None => {
                to_begin -= 1;
                running[client] = Some(store.begin());
                (Op::StoreBegin, Status::Ok, vec![], vec![])
            }
            Some(mut this) if this.steps > 0 => {
                this.steps -= 1;
                let key = store.random.below(2) as i64;
                let call = match store.random.percent(50) {
                    true => store.append(&mut this, key),
                    false => store.read(&this, key),
                };
                running[client] = Some(this);
                call
            }
            Some(this) => store.end(&this),
        };
        let start = clock + 1 + store.random.below(3) as u64;
        clock = start + 1 + store.random.below(2) as u64;
        records[client].push(Record { op, status, start, end: clock, args, results });
    }
    change(store.random, &mut records);
    if store.random.percent(30) {
        tie(&mut records);
    }
    written(&records)
}

/// Changes up to two of the lists that were read.
fn change(random: &mut Random, records: &mut [Vec<Record>]) {
    let mut reads: Vec<&mut Record> =
        records.iter_mut().flatten().filter(|record| record.op == Op::StoreReadList).collect();
    for _ in 0..random.below(3) {
        if reads.is_empty() || random.percent(50) {
            return;
        }
        let at = random.below(reads.len());
        let list = &mut reads[at].results;
        let place = random.below(list.len() + 1);
        match random.below(4) {
            0 => list.truncate(place),
            1 if place < list.len() => list.swap(0, place),
            2 if place < list.len() => drop(list.remove(place)),
            _ => list.insert(place, 1 + random.below(9) as i64),
        }
    }
}

#[test]
fn verdicts_are_those_of_an_enumeration() {
    let histories = crate::how_many(100_000);
    for text in SPECS {
        let spec: Spec = text.parse().expect(text);
        let in_time = spec.consistency == Consistency::Linearizable;
        let (mut random, mut shares) = (Random::new(5), Shares::default());
        for number in 0..histories {
            let history = random_history(&mut random);
            let expected = explained(&history, in_time);
            shares.note(expected);
            let verdict = check(&history, &spec, &Limits::default());
            assert_agrees(&verdict, expected, &spec, &history, "check");
            if let Verdict::Violation(witness) = verdict
                && number % 4 == 0
            {
                shows(&history, &witness, in_time);
            }
        }
        shares.assert_healthy(text);
    }
}

/// The transactions of a cycle contradict each other: each of them made the operations that are
/// named, and no order of them alone explains what they say of each other.
fn shows(history: &History, witness: &Witness, in_time: bool) {
    let Explanation::Transactions(OfTransactions::Cycle(cycle)) = &*witness.explanation else {
        return;
    };
    let begin = |id: OperationId| {
        let is_begin = |index: &u32| {
            history.operation(OperationId { index: *index, ..id }).op == Op::StoreBegin
        };
        (0..=id.index).rfind(is_begin).map(|index| OperationId { index, ..id })
    };
    for (dependency, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(begin(dependency.operations[1]), begin(next.operations[0]), "{witness:?}");
        assert_ne!(begin(dependency.operations[0]), begin(dependency.operations[1]));
        assert!(dependency.operations.iter().all(|id| witness.operations.contains(id)));
    }
    assert!(in_time || !witness.rule.ends_with("-realtime"), "{witness:?}");
}

/// The history in which each line is an event: the number of a transaction with "(" at its begin
/// and ")" at its commit, and between them "x+1" for an append and "x[1,2]" for a read.
fn history_of(text: &str) -> History {
    let mut records: Vec<Vec<Record>> = Vec::new();
    for (at, word) in text.split_whitespace().enumerate() {
        let (client, what) = word.split_at(1);
        let client: usize = client.parse().expect("a digit");
        records.resize(records.len().max(client + 1), Vec::new());
        let key = i64::from(what.as_bytes()[0]);
        let numbers = |list: &str| -> Vec<i64> {
            let words = list.split([',', ']', '[']).filter(|word| !word.is_empty());
            words.map(|word| word.parse().expect("a number")).collect()
        };
        let (op, args, results) = match what {
            "(" => (Op::StoreBegin, vec![], vec![]),
            ")" => (Op::StoreCommit, vec![], vec![]),
            "!" => (Op::StoreAbort, vec![], vec![]),
            _ => match what[1..].strip_prefix('+') {
                Some(value) => (Op::StoreAppend, vec![key, numbers(value)[0]], vec![]),
                None => (Op::StoreReadList, vec![key], numbers(&what[1..])),
            },
        };
        let (start, end) = (2 * at as u64, 2 * at as u64 + 1);
        records[client].push(Record { op, status: Status::Ok, start, end, args, results });
    }
    written(&records)
}

fn rule(text: &str, spec: &str) -> &'static str {
    match check(&history_of(text), &spec.parse::<Spec>().expect(spec), &Limits::default()) {
        Verdict::Violation(witness) => witness.rule,
        Verdict::Consistent => "consistent",
        Verdict::Inconclusive(why) => panic!("{why:?}"),
    }
}

/// Adya's and Elle's names; `text` with the rule in the order of time, and without.
#[test]
fn what_lists_show_has_a_name() {
    let both = |text: &str| SPECS.map(|spec| rule(text, spec));
    let reads = "2( 2x[1,2] 2y[2,1] 2)";
    assert_eq!(both(&format!("0( 1( 0x+1 0y+1 1x+2 1y+2 0) 1) {reads}")), ["G0"; 2]);
    assert_eq!(both("0( 1( 0x+1 0y[1] 1y+1 1x[1] 0) 1)"), ["G1c"; 2]);
    assert_eq!(both("0( 0x+1 0y+1 0) 1( 2( 2x[1] 2y[] 2) 1)"), ["G-single"; 2]);
    let lost = "0( 1( 0x[] 1x[] 0x+1 1x+2 0) 1) 2( 2x[1,2] 2)";
    assert_eq!(both(lost), ["G-single"; 2]);
    let nobody_looked = "0( 1( 0x[] 1x[] 0x+1 1x+2 0) 1)";
    assert_eq!(both(nobody_looked), ["G-single"; 2]);
    let skew = "0( 1( 0x[] 1y[] 0y+1 1x+1 0) 1)";
    assert_eq!(both(skew), ["G2-item"; 2]);
    let stale = "0( 0x+1 0) 1( 1x[] 1)";
    assert_eq!(both(stale), ["G-single-realtime", "consistent"]);
    let backwards = "0( 0x+1 0) 1( 1x+2 1) 2( 2x[2,1] 2)";
    assert_eq!(both(backwards), ["G0-realtime", "consistent"]);
    assert_eq!(both("0( 0x[1] 0) 1( 1x+1 1)"), ["G1c-realtime", "consistent"]);
    assert_eq!(both("0( 0x+1 1( 1x[1] 1) 0!"), ["aborted-read"; 2]);
    assert_eq!(both("0( 0x+1 1( 1x[1] 1) 0x+2 0)"), ["intermediate-read"; 2]);
    assert_eq!(both("0( 0x+1 0x[] 0)"), ["own-write-lost"; 2]);
    assert_eq!(both("0( 0x[] 1( 1x+1 1) 0x[1] 0)"), ["non-repeatable-read"; 2]);
    assert_eq!(both("0( 0x[7] 0)"), ["from-nowhere"; 2]);
    assert_eq!(both("0( 0x[1] 0x+1 0)"), ["from-nowhere"; 2]);
    assert_eq!(both("0( 0x+1 0) 1( 1x[1,1] 1)"), ["duplicate"; 2]);
    let both_first = "0( 1( 0x+1 1x+2 0) 1) 2( 2x[1] 2) 3( 3x[2,1] 3)";
    assert_eq!(both(both_first), ["incompatible-order"; 2]);
    assert_eq!(both("0( 0x+1 0x+2 0) 1( 1x[2,1] 1)"), ["incompatible-order"; 2]);
    assert_eq!(both("0( 0x+1 0) 1( 1x[1] 1x+2 1) 2( 2x[1,2] 2)"), ["consistent"; 2]);
}

#[test]
fn what_lists_do_not_show_is_not_decided() {
    let undecided = |text: &str, spec: &str| match check(
        &history_of(text),
        &spec.parse::<Spec>().expect(spec),
        &Limits::default(),
    ) {
        Verdict::Inconclusive(why) => why,
        verdict => panic!("{verdict:?}"),
    };
    let twice = undecided("0( 0x+1 0) 1( 1x+1 1)", "serializable");
    assert!(matches!(twice, Undecided::AppendedTwice(_)), "{twice:?}");
    let snapshot = undecided("0( 0x+1 0)", "snapshot");
    assert!(matches!(snapshot, Undecided::Foreign(..)), "{snapshot:?}");
    // What never came about is no other's.
    assert_eq!(rule("0( 0x+1 0!  1( 1x+1 1) 2( 2x[1] 2)", "serializable"), "consistent");
}
