//! Compares the online check of transactions with the check of every prefix.

use std::collections::BTreeMap;
use std::mem::discriminant;

use interlap::check::{Limits, Online, Undecided, Verdict, check};
use interlap::core::history::{History, NEVER, OperationId};
use interlap::core::operation::{Op, Status};
use interlap::model::{Kind, Spec};

use super::isolation::random_history;
use super::online::until;
use super::random::Random;
use super::store;
use super::streams_online::feed;
use super::transactions::CERTAIN;

/// Maximum number of transactions whose every order is tried.
const ENUMERATED_MAX: usize = 7;

/// Counts of many histories.
#[derive(Default, Debug)]
struct Counts {
    bad: usize,
    /// Prefixes that were compared, and histories of which something was pruned.
    looks: usize,
    shorter: usize,
    /// Violations found while no transaction was under way.
    rested: usize,
    /// Reads of pruned versions.
    undecided: usize,
}

/// How many calls each thread made before `time`; none while a transaction is under way. A call of
/// unknown outcome ends its transaction.
fn at_rest(history: &History, time: u64) -> Option<Vec<usize>> {
    let threads = history.threads.iter().map(|thread| {
        let called = thread.operations().iter().take_while(|operation| operation.start < time);
        let rest = called.clone().last().is_none_or(|last| match last.op {
            _ if last.end == NEVER => last.status == Status::Unknown,
            Op::StoreCommit | Op::StoreAbort => last.end < time,
            _ => false,
        });
        rest.then(|| called.count())
    });
    threads.collect()
}

fn cut(history: &History, from: &[usize], to: &[usize]) -> History {
    let within = |id: &OperationId| {
        let (thread, index) = (id.thread as usize, id.index as usize);
        (from[thread]..to[thread]).contains(&index)
    };
    history.only(&history.ids().filter(within).collect::<Vec<_>>())
}

/// Whether the verdict on the rest is that on the whole; a read timestamp may be too old for it.
fn agrees(verdict: &Verdict, whole: &Verdict, history: &History) -> bool {
    match verdict {
        Verdict::Inconclusive(why) => {
            let of_timestamps = [Undecided::LacksTimestamp, Undecided::Pruned { read_at: 0 }];
            let is_known = of_timestamps.iter().any(|of| discriminant(of) == discriminant(why));
            assert!(is_known, "{why:?}: {history:?}");
            false
        }
        _ => {
            // A violation before the invocation of a commit without an answer remains one.
            let earlier = matches!(verdict, Verdict::Violation(_)) && is_undecided(whole);
            let same = earlier || discriminant(verdict) == discriminant(whole);
            assert!(same, "{verdict:?} but {whole:?}: {history:?}");
            true
        }
    }
}

/// A commit without an answer may have had any timestamp.
fn is_undecided(whole: &Verdict) -> bool {
    *whole == Verdict::Inconclusive(Undecided::LacksTimestamp)
}

/// Event by event: a violation is found as soon as no continuation of the history is explained.
fn by_events(history: &History, spec: &Spec, counts: &mut Counts) {
    let limits = Limits::default();
    let mut online = Online::new(*spec, limits.clone());
    let begins = history.ids().filter(|id| history.operation(*id).op == Op::StoreBegin).count();
    let enumerated = spec.kind == Kind::Serializable && begins <= ENUMERATED_MAX;
    let (mut missed, mut last) = (false, None);
    let mut is_found = false;
    feed(&mut online, history, |time, found| {
        counts.looks += 1;
        let so_far = until(history, time);
        if spec.kind == Kind::Snapshot {
            let whole = check(&so_far, spec, &limits);
            let bad = matches!(whole, Verdict::Violation(_));
            let may_be = bad || is_undecided(&whole);
            assert!(may_be || !found, "after {time}: {whole:?}: {history:?}");
            missed |= bad && !found;
        } else if enumerated && found && !is_found {
            counts.rested += usize::from(at_rest(history, time + 1).is_some());
            assert!(
                !store::has_consistent_continuation(&so_far),
                "found too early, after {time}: {history:?}"
            );
            let before = last.take().map(|time| until(history, time));
            missed |= before.is_some_and(|before| !store::has_consistent_continuation(&before));
        }
        (last, is_found) = (Some(time), found);
    });
    if enumerated && !is_found {
        missed |=
            last.is_some_and(|time| !store::has_consistent_continuation(&until(history, time)));
    }
    counts.shorter += usize::from(online.held().0 < history.len());
    let (verdict, rest) = online.finish(false);
    let whole = check(history, spec, &limits);
    let decided = agrees(&verdict, &whole, history);
    assert!(!missed || !decided, "found too late: {history:?}");
    counts.undecided += usize::from(!decided);
    if let Verdict::Violation(witness) = verdict {
        counts.bad += 1;
        let again = check(&rest, spec, &limits);
        assert!(matches!(again, Verdict::Violation(_)), "{again:?}: {rest:?} of {history:?}");
        if !CERTAIN.contains(&witness.rule) {
            let alone = check(&rest.only(&witness.operations), spec, &limits);
            assert_ne!(alone, Verdict::Consistent, "{witness:?}: {history:?}");
        }
    }
}

/// In parts between which no transaction is under way.
fn by_parts(history: &History, spec: &Spec, counts: &mut Counts) {
    if history.ids().any(|id| history.operation(id).end == NEVER) {
        return;
    }
    let limits = Limits::default();
    let mut online = Online::new(*spec, limits.clone()).at_rest();
    let mut from = vec![0; history.threads.len()];
    let mut ends: Vec<u64> = history.ids().map(|id| history.operation(id).end).collect();
    ends.sort_unstable();
    for end in ends {
        let Some(to) = at_rest(history, end + 1) else { continue };
        online.append(cut(history, &from, &to)).expect("they follow each other");
        from = to;
        if online.look_at_rest().is_some() {
            break;
        }
    }
    let (verdict, _) = online.finish(false);
    let whole = check(history, spec, &limits);
    let same = discriminant(&verdict) == discriminant(&whole);
    let over = at_rest(history, NEVER).is_some();
    counts.undecided += usize::from(over && !same && !agrees(&verdict, &whole, history));
}

fn compare(text: &str, histories: usize, more: usize) {
    let histories = crate::how_many(histories);
    let (spec, mut random): (Spec, _) = (text.parse().expect(text), Random::new(71));
    let mut counts = Counts::default();
    for _ in 0..histories {
        let history = random_history(&mut random, more);
        by_events(&history, &spec, &mut counts);
        by_parts(&history, &spec, &mut counts);
    }
    println!("{text}: {histories} histories, {counts:?}");
    assert!(counts.bad > histories / 20 && counts.shorter > histories / 5, "{counts:?}");
    assert!(counts.undecided < histories / 10, "{counts:?}");
}

#[test]
fn online_agrees_on_every_prefix_of_snapshots() {
    compare("snapshot", 100_000, 0);
}

#[test]
fn online_agrees_on_every_prefix_of_longer_snapshots() {
    compare("snapshot", 5_000, 12);
}

#[test]
fn online_agrees_on_every_prefix_of_serializable_transactions() {
    compare("serializable", 100_000, 0);
}

#[test]
fn online_agrees_on_every_prefix_of_longer_serializable_transactions() {
    compare("serializable", 5_000, 12);
}

/// A transaction of a long run.
#[derive(Default)]
struct Running {
    /// How many commits its snapshot has seen, and what it found there.
    seen: usize,
    store: BTreeMap<i64, i64>,
    touched: Vec<i64>,
    writes: BTreeMap<i64, i64>,
    calls: usize,
}

/// Some transaction is always under way; of two that conflict, the later commit fails.
fn long_run(text: &str, operations: u64) {
    let (spec, mut random): (Spec, _) = (text.parse().expect(text), Random::new(73));
    let mut online = Online::new(spec, Limits::default()).every(256);
    let mut store: BTreeMap<i64, i64> = BTreeMap::new();
    // By key: the number of its last commit.
    let (mut last, mut commits) = (BTreeMap::<i64, usize>::new(), 0);
    let mut clients: Vec<Option<Running>> = (0..4).map(|_| None).collect();
    let (mut clock, mut value) = (0, 0);
    while online.returned() < operations {
        let client = random.below(clients.len());
        clock += 2;
        let (mut args, mut results, mut status) = (Vec::new(), Vec::new(), Status::Ok);
        let key = random.below(6) as i64;
        let op = match &mut clients[client] {
            None => {
                let running = Running { seen: commits, store: store.clone(), ..Running::default() };
                clients[client] = Some(running);
                Op::StoreBegin
            }
            Some(running) if running.calls == 4 => {
                let fails = |key: &i64| last.get(key).is_some_and(|last| *last > running.seen);
                if running.touched.iter().any(fails) {
                    status = Status::Failed;
                } else {
                    commits += 1;
                    for (key, value) in &running.writes {
                        store.insert(*key, *value);
                        last.insert(*key, commits);
                    }
                }
                clients[client] = None;
                Op::StoreCommit
            }
            Some(running) => {
                running.calls += 1;
                running.touched.push(key);
                args.push(key);
                if random.percent(40) {
                    value += 1;
                    running.writes.insert(key, value);
                    args.push(value);
                    Op::StoreWrite
                } else {
                    let found = running.writes.get(&key).or_else(|| running.store.get(&key));
                    results.extend(found);
                    status = if found.is_some() { Status::Ok } else { Status::Failed };
                    Op::StoreRead
                }
            }
        };
        online.call(client as u32, op, &args, clock).expect("in order");
        let found = online.answer(client as u32, status, &results, clock + 1).expect("in order");
        assert!(found.is_none(), "{found:?}");
    }
    let (now, most) = online.held();
    println!("{text}: {now} operations held of {operations}, {most} at most");
    assert!(most < 5_000, "{text}: {now} operations held, {most} at most");
}

#[test]
fn long_transactions_need_little_memory() {
    long_run("snapshot", 1_000_000);
    long_run("serializable", 1_000_000);
}
