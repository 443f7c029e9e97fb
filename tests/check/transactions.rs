//! Compares the checker of transactions with the enumeration, on random histories of stores with
//! several isolation levels, and checks the names of anomalies.

use interlap::check::{
    ContradictedOrder, Explanation, Limits, OfTransactions, Verdict, Witness, check,
};
use interlap::core::history::{Entry, History, OperationId};
use interlap::core::operation::{Op, Status};
use interlap::model::Spec;

use super::agreement::{Shares, assert_agrees};
use super::brute;
use super::isolation::random_history;
use super::random::Random;

/// Compares `check` with the enumeration.
pub fn compare(text: &str, histories: usize) {
    let histories = crate::how_many(histories);
    let (spec, mut random): (Spec, _) = (text.parse().expect(text), Random::new(17));
    let mut shares = Shares::default();
    for number in 0..histories {
        let history = random_history(&mut random, 0);
        let explained = brute::explained(&history, &spec);
        shares.note(explained);
        let verdict = check(&history, &spec, &Limits::default());
        assert_agrees(&verdict, explained, &spec, &history, "check");
        if let Verdict::Violation(witness) = verdict
            && number % 8 == 0
            && !witness.operations.is_empty()
        {
            whole(&history, &spec, &witness);
        }
    }
    shares.assert_healthy(text);
}

/// Rules that a single read breaks: the whole transactions need not contradict each other.
pub const CERTAIN: [&str; 6] = [
    "from-nowhere",
    "aborted-read",
    "intermediate-read",
    "non-repeatable-read",
    "own-write-lost",
    "future-read",
];

/// The transactions of a witness alone are refused, too.
fn whole(history: &History, spec: &Spec, witness: &Witness) {
    let begins = witness.operations.iter().any(|id| history.operation(*id).op == Op::StoreBegin);
    if begins && !CERTAIN.contains(&witness.rule) {
        let alone = history.only(&witness.operations);
        assert!(!brute::explained(&alone, spec), "{witness:?} is explained");
    }
}

#[test]
fn snapshot() {
    compare("snapshot", 100_000);
}

#[test]
fn serializable() {
    compare("serializable", 100_000);
}

/// Serializability that is not strict.
#[test]
fn serializable_in_any_order() {
    compare("serializable:consistency=unordered", 50_000);
}

type Line<'a> = (u32, Op, &'a [i64], Status, &'a [i64]);

/// The rule that the history breaks: lines of client, operation, arguments and answer, one call at
/// a time.
fn rule(lines: &[Line], spec: &str) -> &'static str {
    witness_of(lines, spec).map_or("consistent", |witness| witness.rule)
}

fn witness_of(lines: &[Line], spec: &str) -> Option<Witness> {
    let mut history = History::default();
    for (at, &(client, op, args, status, results)) in lines.iter().enumerate() {
        let (start, end) = (2 * at as u64, 2 * at as u64 + 1);
        let entry = Entry { op, status, start, end, args, results };
        history.push(client, entry).expect("a well formed line");
    }
    match check(&history, &spec.parse::<Spec>().expect(spec), &Limits::default()) {
        Verdict::Violation(witness) => Some(witness),
        Verdict::Consistent => None,
        Verdict::Inconclusive(reason) => panic!("{reason:?}"),
    }
}

const OK: Status = Status::Ok;
const NO: Status = Status::Failed;

fn orders_of(witness: &Witness) -> &[ContradictedOrder] {
    match &*witness.explanation {
        Explanation::Transactions(OfTransactions::NoOrder(reason)) => &reason.orders,
        other => panic!("{other:?}"),
    }
}

/// For few transactions, the explanation has the contradiction of each order.
#[test]
fn each_order_of_whole_transactions_is_contradicted() {
    use Op::*;
    let begin = |client| (client, StoreBegin, &[][..], OK, &[][..]);
    let commit = |client| (client, StoreCommit, &[][..], OK, &[][..]);
    let lines = [
        begin(1),
        (1, StoreRead, &[0], NO, &[]),
        (1, StoreWrite, &[0, 2], OK, &[]),
        begin(2),
        (2, StoreWrite, &[0, 1], OK, &[]),
        commit(2),
        commit(1),
        begin(3),
        (3, StoreRead, &[0], OK, &[2]),
        commit(3),
    ];
    let witness = witness_of(&lines, "serializable").expect("the first saw nothing of the second");
    let id = |thread, index| OperationId { thread, index };
    let order = |before: &[OperationId], read| ContradictedOrder {
        before: before.to_vec(),
        read,
        held: Some(1),
    };
    let orders = [order(&[id(0, 0), id(1, 0)], id(2, 1)), order(&[id(1, 0)], id(0, 1))];
    assert_eq!(orders_of(&witness), orders);
    // Snapshots and commits need not follow one order of transactions.
    let witness = witness_of(&lines[..7], "snapshot").expect("both replaced it");
    assert_eq!(orders_of(&witness), []);
}

#[test]
fn anomalies_have_names() {
    use Op::*;
    let begin = |client| (client, StoreBegin, &[][..], OK, &[][..]);
    let commit = |client| (client, StoreCommit, &[][..], OK, &[][..]);
    let lost = [
        begin(1),
        begin(2),
        (1, StoreRead, &[5], NO, &[]),
        (2, StoreRead, &[5], NO, &[]),
        (1, StoreWrite, &[5, 1], OK, &[]),
        (2, StoreWrite, &[5, 2], OK, &[]),
        commit(1),
        commit(2),
    ];
    assert_eq!(rule(&lost, "snapshot"), "lost-update");
    assert_eq!(rule(&lost, "serializable"), "lost-update");
    let skew = [
        begin(1),
        begin(2),
        (1, StoreRead, &[5], NO, &[]),
        (2, StoreRead, &[6], NO, &[]),
        (1, StoreWrite, &[6, 1], OK, &[]),
        (2, StoreWrite, &[5, 2], OK, &[]),
        commit(1),
        commit(2),
    ];
    assert_eq!(rule(&skew, "snapshot"), "consistent");
    assert_eq!(rule(&skew, "serializable"), "write-skew");
    let fractured = [
        begin(1),
        (1, StoreWrite, &[5, 1], OK, &[]),
        (1, StoreWrite, &[6, 1], OK, &[]),
        begin(2),
        (2, StoreRead, &[5], NO, &[]),
        commit(1),
        (2, StoreRead, &[6], OK, &[1]),
        commit(2),
    ];
    assert_eq!(rule(&fractured, "snapshot"), "fractured-read");
    assert_eq!(rule(&fractured, "serializable"), "fractured-read");
    let stale = [
        begin(1),
        (1, StoreWrite, &[5, 1], OK, &[]),
        commit(1),
        begin(2),
        (2, StoreRead, &[5], NO, &[]),
        commit(2),
    ];
    assert_eq!(rule(&stale, "snapshot"), "stale-read");
    // A value replaced during the transaction is not stale; the commit need not have an answer.
    let mut unanswered = fractured;
    unanswered[5].3 = Status::Pending;
    assert_eq!(rule(&unanswered, "snapshot"), "fractured-read");
    // Reads of transactions outside the anomaly do not matter.
    let conflict = [
        begin(1),
        (1, StoreRead, &[5], NO, &[]),
        begin(1),
        (1, StoreRemove, &[5], OK, &[]),
        commit(1),
        begin(1),
        begin(2),
        (1, StoreWrite, &[5, 1], OK, &[]),
        (2, StoreRemove, &[5], OK, &[]),
        commit(2),
        commit(1),
    ];
    assert_eq!(rule(&conflict, "snapshot"), "write-conflict");
}

/// Correct reads of the transactions in an anomaly do not change its name.
#[test]
fn anomalies_are_named_by_what_went_wrong() {
    use Op::*;
    let begin = |client| (client, StoreBegin, &[][..], OK, &[][..]);
    let commit = |client| (client, StoreCommit, &[][..], OK, &[][..]);
    // Key 6 was replaced since, so the reader did not see a part of the first commit only.
    let replaced = [
        begin(1),
        (1, StoreWrite, &[5, 1], OK, &[]),
        (1, StoreWrite, &[6, 1], OK, &[]),
        commit(1),
        begin(1),
        (1, StoreWrite, &[6, 2], OK, &[]),
        commit(1),
        begin(1),
        (1, StoreWrite, &[8, 1], OK, &[]),
        commit(1),
        begin(2),
        (2, StoreRead, &[5], OK, &[1]),
        (2, StoreRead, &[6], OK, &[2]),
        (2, StoreRead, &[8], NO, &[]),
        commit(2),
    ];
    // Two transactions found nothing and wrote; the first one's value was removed in between.
    let removed = [
        begin(1),
        (1, StoreRead, &[5], NO, &[]),
        (1, StoreWrite, &[5, 1], OK, &[]),
        commit(1),
        begin(1),
        (1, StoreRead, &[5], OK, &[1]),
        (1, StoreRemove, &[5], OK, &[]),
        (1, StoreWrite, &[8, 1], OK, &[]),
        commit(1),
        begin(2),
        (2, StoreRead, &[5], NO, &[]),
        (2, StoreWrite, &[5, 2], OK, &[]),
        commit(2),
        begin(3),
        (3, StoreRead, &[5], OK, &[2]),
        (3, StoreRead, &[8], NO, &[]),
        commit(3),
    ];
    for lines in [&replaced[..], &removed] {
        assert_eq!(rule(lines, "snapshot"), "stale-read");
        assert_eq!(rule(lines, "serializable"), "stale-read");
    }
}

#[test]
fn anomalies_of_timestamps_have_names() {
    use Op::*;
    // Timestamps are arguments of some calls and answers of others.
    let begin = |client, at: &'static [i64]| (client, StoreBegin, &[][..], OK, at);
    let commit = |client, at: &'static [i64]| (client, StoreCommit, at, OK, &[][..]);
    let write = |client, what: &'static [i64]| (client, StoreWrite, what, OK, &[][..]);
    let first = [begin(1, &[]), write(1, &[5, 1]), commit(1, &[10])];
    let with = |more: &[Line<'static>]| [&first[..], more].concat();
    let found = |at, value: &'static [i64]| {
        let status = if value.is_empty() { NO } else { OK };
        with(&[begin(2, at), (2, StoreRead, &[5], status, value), commit(2, &[])])
    };
    for model in ["snapshot", "serializable"] {
        assert_eq!(rule(&found(&[7], &[1]), model), "future-read");
        assert_eq!(rule(&found(&[7], &[]), model), "consistent", "it reads the past");
        assert_eq!(rule(&found(&[10], &[1]), model), "consistent");
        assert_eq!(rule(&found(&[20], &[]), model), "stale-read");
    }
    let changes = |at, commits| with(&[begin(2, at), write(2, &[5, 2]), commit(2, commits)]);
    assert_eq!(rule(&changes(&[7], &[12]), "snapshot"), "write-conflict");
    assert_eq!(rule(&changes(&[10], &[12]), "snapshot"), "consistent");
    assert_eq!(rule(&changes(&[7], &[12]), "serializable"), "consistent");
    assert_eq!(rule(&changes(&[], &[9]), "serializable"), "timestamp-order");
    assert_eq!(rule(&changes(&[], &[12]), "serializable"), "consistent");
}

/// Two overlapping transactions wrote a key, and neither read it.
#[test]
fn blind_writes_conflict() {
    use Op::*;
    let line = |client, op| (client, op, &[][..], OK, &[][..]);
    let write = |client, what: &'static [i64]| (client, StoreWrite, what, OK, &[][..]);
    let (begin, commit) = (StoreBegin, StoreCommit);
    let both = [
        line(1, begin),
        write(1, &[5, 1]),
        line(2, begin),
        write(2, &[5, 2]),
        line(1, commit),
        line(2, commit),
    ];
    assert_eq!(rule(&both, "snapshot"), "write-conflict");
    assert_eq!(rule(&both, "serializable"), "consistent");
}

#[test]
fn anomalies_of_single_reads_have_names() {
    use Op::*;
    let begin = |client| (client, StoreBegin, &[][..], OK, &[][..]);
    let commit = |client| (client, StoreCommit, &[][..], OK, &[][..]);
    let write = |value: &'static [i64]| (1, StoreWrite, value, OK, &[][..]);
    let read = |value: &'static [i64]| (2, StoreRead, &[5][..], OK, value);
    let abort = (1, StoreAbort, &[][..], OK, &[][..]);
    let aborted = [begin(1), write(&[5, 1]), begin(2), read(&[1]), abort, commit(2)];
    assert_eq!(rule(&aborted, "snapshot"), "aborted-read");
    let early =
        [begin(1), write(&[5, 1]), write(&[5, 2]), begin(2), read(&[1]), commit(1), commit(2)];
    assert_eq!(rule(&early, "serializable"), "intermediate-read");
    assert_eq!(rule(&[begin(2), read(&[9]), commit(2)], "snapshot"), "from-nowhere");
    let absent = (2, StoreRead, &[5][..], NO, &[][..]);
    let changed = [begin(2), absent, begin(1), write(&[5, 1]), commit(1), read(&[1]), commit(2)];
    assert_eq!(rule(&changed, "snapshot"), "non-repeatable-read");
    let own = [begin(2), (2, StoreWrite, &[5, 3], OK, &[]), absent, commit(2)];
    assert_eq!(rule(&own, "snapshot"), "own-write-lost");
}
