//! Reductions of a scenario: fewer calls, fewer threads, simpler arguments.

use std::collections::BTreeSet;
use std::ops::Range;

use super::carried_schedule;
use crate::core::operation::Op;
use crate::core::plan::{Call, Scenario};

/// The numbers of a thread's calls. Calls are numbered thread by thread.
pub(super) fn calls_of(scenario: &Scenario, thread: usize) -> Range<usize> {
    let before = scenario.threads[..thread].iter().map(Vec::len).sum();
    before..before + scenario.threads[thread].len()
}

/// The scenario without a thread, if it has no calls and is not the only one.
pub(super) fn without_idle(scenario: &Scenario, thread: usize) -> Option<Scenario> {
    let mut fewer = scenario.clone();
    let calls = fewer.threads.remove(thread);
    carried_schedule::put(
        &mut fewer,
        carried_schedule::without_thread(&carried_schedule::turns(scenario), thread),
    );
    (calls.is_empty() && !fewer.threads.is_empty()).then_some(fewer)
}

/// The scenario without the calls in these ranges of numbers. Threads stay even if they have no
/// calls left, because a thread's number can decide what it may call.
pub(super) fn without_calls(scenario: &Scenario, calls: &[Range<usize>]) -> Scenario {
    let mut fewer = scenario.clone();
    let is_out = |number: usize| calls.iter().any(|calls| calls.contains(&number));
    let mut number = 0..;
    for thread in &mut fewer.threads {
        thread.retain(|_| number.next().is_none_or(|number| !is_out(number)));
    }
    let numbers: Vec<_> = (0..scenario.threads.len()).map(|t| calls_of(scenario, t)).collect();
    let is_out = |thread: usize, call: u32| {
        numbers.get(thread).and_then(|all| all.clone().nth(call as usize)).is_some_and(is_out)
    };
    carried_schedule::put(
        &mut fewer,
        carried_schedule::without_calls(&carried_schedule::turns(scenario), is_out),
    );
    fewer
}

/// The scenario with the calls of `thread` appended to those of `other`, with one thread less.
fn joined(scenario: &Scenario, thread: usize, other: usize) -> Option<Scenario> {
    if thread == other || thread.max(other) >= scenario.threads.len() {
        return None;
    }
    let mut fewer = scenario.clone();
    let calls = std::mem::take(&mut fewer.threads[thread]);
    let before = fewer.threads[other].len();
    carried_schedule::put(
        &mut fewer,
        carried_schedule::joined(&carried_schedule::turns(scenario), thread, other, before),
    );
    fewer.threads[other].extend(calls);
    fewer.threads.remove(thread);
    Some(fewer)
}

/// Every way to append the calls of one thread to those of another.
pub(super) fn all_joined(scenario: &Scenario) -> Vec<Scenario> {
    let count = scenario.threads.len();
    let pairs = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
    pairs.filter_map(|(one, other)| joined(scenario, one, other)).collect()
}

/// Simplifications of all arguments at once, the largest first.
pub(super) const SIMPLIFICATIONS: [fn(&Scenario) -> Scenario; 6] = [
    |all| with_small_bulks(&with_small_values(&with_one_key(all))),
    |all| with_small_bulks(&with_small_values(&with_small_keys(all))),
    with_one_key,
    with_small_keys,
    with_small_values,
    with_small_bulks,
];

/// Every key is 0.
pub(super) fn with_one_key(scenario: &Scenario) -> Scenario {
    let simple = with_keys(scenario, &|_| 0);
    Scenario { keys: scenario.keys.min(1), ..simple }
}

/// Keys renumbered from 0, in their order.
pub(super) fn with_small_keys(scenario: &Scenario) -> Scenario {
    let keys = || each(scenario).flat_map(|call| call.args[..keys_of(call)].iter().copied());
    let used: BTreeSet<i64> = keys().collect();
    let simple = with_keys(scenario, &|key| used.range(..key).count() as i64);
    Scenario { keys: scenario.keys.min(used.len() as u64), ..simple }
}

/// Values renumbered from 1, in their order. The initial value stays 0.
fn with_small_values(scenario: &Scenario) -> Scenario {
    let values = || each(scenario).flat_map(|call| call.args[values_of(call)].iter().copied());
    let used: BTreeSet<i64> = values().filter(|value| *value != 0).collect();
    let small = |value| match value {
        0 => 0,
        value => 1 + used.range(..value).count() as i64,
    };
    changed(scenario, &|call| {
        let values = values_of(call);
        call.args[values].iter_mut().for_each(|value| *value = small(*value));
    })
}

/// Every bulk call carries or asks for at most one value.
fn with_small_bulks(scenario: &Scenario) -> Scenario {
    changed(scenario, &|call| match (call.op, &mut call.args) {
        (Op::EnqueueBulk, values) => values.truncate(1),
        (Op::DequeueBulk, most) => most.iter_mut().for_each(|most| *most = (*most).min(1)),
        _ => {}
    })
}

/// The scenario with half the values in one bulk call, by its number; none if the call has only one
/// value or is no bulk call.
pub(super) fn smaller_bulk(scenario: &Scenario, call: usize) -> Option<Scenario> {
    let old = each(scenario).nth(call)?;
    let args = match (old.op, &old.args[..]) {
        (Op::EnqueueBulk, values) if values.len() > 1 => values[..values.len() / 2].to_vec(),
        (Op::DequeueBulk, most) if most[0] > 1 => vec![most[0] / 2],
        _ => return None,
    };
    let mut smaller = scenario.clone();
    smaller.threads.iter_mut().flatten().nth(call)?.args = args;
    Some(smaller)
}

fn each(scenario: &Scenario) -> impl Iterator<Item = &Call> {
    scenario.threads.iter().flatten()
}

fn changed(scenario: &Scenario, change: &dyn Fn(&mut Call)) -> Scenario {
    let mut other = scenario.clone();
    other.threads.iter_mut().flatten().for_each(change);
    other
}

fn with_keys(scenario: &Scenario, key: &dyn Fn(i64) -> i64) -> Scenario {
    changed(scenario, &|call| {
        let keys = keys_of(call);
        call.args[..keys].iter_mut().for_each(|old| *old = key(*old));
    })
}

/// The number of arguments that are keys; they come first.
fn keys_of(call: &Call) -> usize {
    use Op::*;
    match call.op {
        SetInsert | SetRemove | SetContains | SetRank => 1,
        StoreRead | StoreWrite | StoreRemove | KvGet | KvPut | KvAppend => 1,
        MapGet | MapPut | MapInsertIfAbsent | MapRemove | MapCompareExchange => 1,
        SetRangeCount | SetRangeList => 2,
        _ => 0,
    }
}

/// The range of arguments that are values.
fn values_of(call: &Call) -> Range<usize> {
    use Op::*;
    let first = match call.op {
        Enqueue | EnqueueBulk | Push | DequePush | PriorityInsert | LogAppend => 0,
        RegisterWrite | RegisterCompareExchange | CounterAdd => 0,
        MapPut | MapInsertIfAbsent | MapCompareExchange => 1,
        StoreWrite | KvPut | KvAppend => 1,
        _ => call.args.len(),
    };
    first..call.args.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(op: Op, args: &[i64]) -> Call {
        Call::new(op, args)
    }

    fn map() -> Scenario {
        let one = vec![call(Op::MapPut, &[7, 100]), call(Op::MapGet, &[9])];
        let other = vec![call(Op::MapCompareExchange, &[7, 100, 2001]), call(Op::MapGet, &[7])];
        let third = vec![call(Op::MapCompareExchange, &[9, 0, 2001])];
        let threads = vec![one, other, third];
        Scenario { threads, keys: 16, values: 3, ..Scenario::default() }
    }

    #[test]
    fn calls_are_numbered_thread_by_thread() {
        let fewer = without_calls(&map(), &[1..2, 2..3]);
        assert_eq!(fewer.threads[0], [call(Op::MapPut, &[7, 100])]);
        assert_eq!(fewer.threads[1], [call(Op::MapGet, &[7])]);
        assert_eq!(fewer.calls(), 3);
        assert_eq!(without_calls(&map(), std::slice::from_ref(&(4..100))).threads[2], []);
    }

    #[test]
    fn idle_threads_are_dropped_and_threads_joined() {
        let joined = joined(&map(), 0, 2).expect("two threads");
        assert_eq!((joined.threads.len(), joined.calls()), (2, 5));
        assert_eq!(joined.threads[1][1], call(Op::MapPut, &[7, 100]));
        assert_eq!(without_idle(&map(), 2), None);
        assert_eq!(calls_of(&map(), 1), 2..4);
        let idle = without_calls(&map(), &[calls_of(&map(), 1)]);
        assert_eq!(without_idle(&idle, 1).expect("two left").threads.len(), 2);
    }

    #[test]
    fn equal_arguments_stay_equal_and_the_initial_value_stays() {
        let small = with_small_values(&with_small_keys(&map()));
        assert_eq!(small.threads[0], [call(Op::MapPut, &[0, 1]), call(Op::MapGet, &[1])]);
        assert_eq!(small.threads[1][0], call(Op::MapCompareExchange, &[0, 1, 2]));
        assert_eq!(small.threads[2][0], call(Op::MapCompareExchange, &[1, 0, 2]));
        assert_eq!(small.keys, 2);
        assert!(each(&with_one_key(&map())).all(|call| call.args[0] == 0));
    }

    #[test]
    fn transactions_and_texts_have_keys_and_values_too() {
        let calls = [
            call(Op::StoreBegin, &[]),
            call(Op::StoreWrite, &[7, 2001]),
            call(Op::StoreRead, &[9]),
            call(Op::KvAppend, &[9, 3000]),
            call(Op::CounterAdd, &[2001]),
        ];
        let all = Scenario { threads: vec![calls.to_vec()], ..Scenario::default() };
        let small = with_small_values(&with_small_keys(&all));
        let args: Vec<&[i64]> = each(&small).map(|call| &call.args[..]).collect();
        assert_eq!(args, [&[] as &[i64], &[0, 1], &[1], &[1, 2], &[1]]);
    }

    #[test]
    fn bulks_are_halved_until_one_value_is_left() {
        let calls = vec![call(Op::EnqueueBulk, &[5, 6, 7, 8]), call(Op::DequeueBulk, &[9])];
        let bulk = Scenario { threads: vec![calls], values: 9, ..Scenario::default() };
        let half = smaller_bulk(&bulk, 0).expect("halved");
        assert_eq!(half.threads[0][0], call(Op::EnqueueBulk, &[5, 6]));
        let quarter = smaller_bulk(&half, 0).expect("halved");
        assert_eq!(smaller_bulk(&quarter, 0), None);
        assert_eq!(smaller_bulk(&bulk, 1).expect("halved").threads[0][1].args, [4]);
        assert!(each(&with_small_bulks(&bulk)).all(|call| call.values() == 1));
    }
}
