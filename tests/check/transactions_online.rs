//! Transactions judged while they come in, against the check of all that came so far.

use std::mem::discriminant;

use interlap::check::{Events, Limits, Online, Verdict, check};
use interlap::history::{History, NEVER, OperationId};
use interlap::model::Spec;
use interlap::operation::{Op, Status};

use super::random::Random;
use super::transactions::random_history;

/// What came of many histories.
#[derive(Default, Debug)]
struct Tally {
    bad: usize,
    /// Looks that were compared, and histories of which something was left out.
    looks: usize,
    shorter: usize,
    /// Read what was not held any more.
    undecided: usize,
}

/// Of each thread, how many of its calls were made before `time`; none while a transaction is under
/// way: a call that never returned ended its own.
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

/// The verdict on the rest must be that on the whole, unless a read timestamp is too far back.
fn agrees(verdict: &Verdict, whole: &Verdict, history: &History) -> bool {
    match verdict {
        Verdict::Inconclusive(why) => {
            assert!(why.contains("timestamp"), "{why}: {history:?}");
            false
        }
        _ => {
            // What was bad before a commit that has no answer was called stays so.
            let earlier = matches!(verdict, Verdict::Violation(_)) && is_undecided(whole);
            let same = earlier || discriminant(verdict) == discriminant(whole);
            assert!(same, "{verdict:?} but {whole:?}: {history:?}");
            true
        }
    }
}

/// A commit without an answer may have had any timestamp.
fn is_undecided(whole: &Verdict) -> bool {
    matches!(whole, Verdict::Inconclusive(why) if why.contains("may have had any timestamp"))
}

/// Event by event: found as soon as the history so far is bad and no transaction is under way.
fn by_events(history: &History, spec: &Spec, tally: &mut Tally) {
    let limits = Limits::default();
    let mut online = Online::new(*spec, limits.clone());
    let mut missed = false;
    let events: Vec<_> = Events::new(history).collect();
    let none = vec![0; history.threads.len()];
    for (at, event) in events.iter().enumerate() {
        let (client, entry) = (event.id.thread, history.entry(event.id));
        let answer = if event.returns {
            online.answer(client, entry.status, entry.results, event.time)
        } else {
            online.call(client, entry.op, entry.args, event.time).expect("in order");
            if entry.status != Status::Unknown {
                continue;
            }
            online.answer(client, Status::Unknown, &[], event.time)
        };
        let is_found = answer.expect("in order").is_some();
        let next = events.get(at + 1).map_or(NEVER, |next| next.time);
        if next == event.time {
            continue;
        }
        let Some(calls) = at_rest(history, event.time + 1) else { continue };
        tally.looks += 1;
        let so_far = cut(history, &none, &calls);
        let whole = check(&so_far, spec, &limits);
        let bad = matches!(whole, Verdict::Violation(_));
        let may_be = bad || is_undecided(&whole);
        assert!(may_be || !is_found, "after {}: {whole:?}: {history:?}", event.time);
        missed |= bad && !is_found;
    }
    tally.shorter += usize::from(online.held().0 < history.len());
    let (verdict, rest) = online.finish(false);
    let whole = check(history, spec, &limits);
    let decided = agrees(&verdict, &whole, history);
    assert!(!missed || !decided, "found too late: {history:?}");
    tally.undecided += usize::from(!decided);
    if let Verdict::Violation(witness) = verdict {
        tally.bad += 1;
        let again = check(&rest, spec, &limits);
        assert_eq!(again, Verdict::Violation(witness), "{rest:?} of {history:?}");
    }
}

/// In parts between which no transaction is under way.
fn by_parts(history: &History, spec: &Spec, tally: &mut Tally) {
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
    tally.undecided += usize::from(over && !same && !agrees(&verdict, &whole, history));
}

fn compare(text: &str, histories: usize, more: usize) {
    let (spec, mut random): (Spec, _) = (text.parse().expect(text), Random::new(71));
    let mut tally = Tally::default();
    for _ in 0..histories {
        let history = random_history(&mut random, more);
        by_events(&history, &spec, &mut tally);
        by_parts(&history, &spec, &mut tally);
    }
    println!("{text}: {histories} histories, {tally:?}");
    assert!(tally.bad > histories / 20 && tally.shorter > histories / 5, "{tally:?}");
    assert!(tally.undecided < histories / 10, "{tally:?}");
}

#[test]
fn snapshots_as_they_come() {
    compare("snapshot", 100_000, 0);
    compare("snapshot", 10_000, 12);
}

#[test]
fn serializable_transactions_as_they_come() {
    compare("serializable", 100_000, 0);
    compare("serializable", 10_000, 12);
}
