//! Tests that drawn calls are repeatable, distinct where they must be, and within roles and limits.

use interlap::core::operation::Status;

use super::*;

fn info() -> TargetInfo {
    TargetInfo {
        library: String::new(),
        version: String::new(),
        model: "fifo-per-producer".into(),
        operations: Vec::new(),
        thread_max: 0,
        capacity: 0,
        block_size: 32,
    }
}

const QUEUE: [(Op, Role); 4] = [
    (Op::Enqueue, Role::Any),
    (Op::Dequeue, Role::Any),
    (Op::EnqueueBulk, Role::Any),
    (Op::DequeueBulk, Role::Any),
];

fn calls(seed: u64, round: u64, thread: u32) -> Vec<(Op, Vec<i64>)> {
    let plan = Plan::new("x", seed);
    let shape = Shape::draw(&plan, &QUEUE, &info(), round);
    let mut caller = Caller::new(&shape, thread);
    let mut args = Vec::new();
    (0..shape.calls.min(50)).map(|_| (caller.next(&mut args).expect("one"), args.clone())).collect()
}

#[test]
fn a_seed_gives_the_same_calls_and_another_seed_others() {
    assert_eq!(calls(1, 20, 0), calls(1, 20, 0));
    assert_ne!(calls(1, 20, 0), calls(2, 20, 0));
    assert_ne!(calls(1, 20, 0), calls(1, 21, 0));
    assert_ne!(calls(1, 20, 0), calls(1, 20, 1));
}

#[test]
fn values_are_distinct_and_bulk_sizes_reach_their_boundaries() {
    let mut values = std::collections::HashSet::new();
    let mut sizes = std::collections::HashSet::new();
    for round in 16..400 {
        values.clear();
        for thread in 0..4 {
            for (op, args) in calls(3, round, thread) {
                if op == Op::DequeueBulk {
                    sizes.insert(args[0]);
                    continue;
                }
                assert!(args.iter().all(|value| values.insert(*value)), "twice in {round}");
            }
        }
    }
    for size in [0, 1, 31, 32, 33, 64] {
        assert!(sizes.contains(&size), "no bulk of {size}");
    }
}

#[test]
fn priorities_are_distinct_and_come_in_no_order() {
    let operations = [(Op::PriorityInsert, Role::Any), (Op::PriorityPoll, Role::Any)];
    let (mut descents, mut inserts) = (0, 0);
    for round in 16..200 {
        let plan = Plan::new("x", 7);
        let shape = Shape::draw(&plan, &operations, &info(), round);
        let mut values = Vec::new();
        for thread in 0..shape.threads {
            let mut caller = Caller::new(&shape, thread);
            let mut args = Vec::new();
            for _ in 0..shape.calls {
                if caller.next(&mut args) == Some(Op::PriorityInsert) {
                    values.push(args[0]);
                }
            }
        }
        descents += values.windows(2).filter(|two| two[1] < two[0]).count();
        inserts += values.len();
        values.sort_unstable();
        assert!(values.windows(2).all(|two| two[0] < two[1]), "twice in {round}");
    }
    assert!((inserts / 4..3 * inserts / 4).contains(&descents), "{descents} of {inserts}");
}

#[test]
fn threads_keep_to_their_roles_and_none_is_idle() {
    let deque = [
        (Op::DequePush, Role::First),
        (Op::DequeTake, Role::First),
        (Op::DequeSteal, Role::Others),
    ];
    for round in 16..200 {
        let plan = Plan::new("x", 5);
        let shape = Shape::draw(&plan, &deque, &info(), round);
        assert!((2..=4).contains(&shape.threads));
        for thread in 0..shape.threads {
            let mut caller = Caller::new(&shape, thread);
            assert!(!caller.is_idle());
            let op = caller.next(&mut Vec::new());
            assert_eq!(op == Some(Op::DequeSteal), thread != 0);
        }
    }
}

#[test]
fn weights_of_the_plan_are_used() {
    let mut plan = Plan::new("x", 5);
    plan.weights = vec![("enqueue".into(), 1), ("dequeue".into(), 0)];
    for round in 16..100 {
        let shape = Shape::draw(&plan, &QUEUE, &info(), round);
        let mut caller = Caller::new(&shape, 0);
        let mut args = Vec::new();
        assert!((0..50).all(|_| caller.next(&mut args) != Some(Op::Dequeue)));
    }
}

/// The calls of some rounds, where the target answers as `answer` does.
fn drawn_calls(
    operations: &[(Op, Role)],
    keys: u64,
    answer: impl Fn(Op, &[i64]) -> Vec<i64>,
) -> Vec<(u64, Op, Vec<i64>)> {
    let mut plan = Plan::new("x", 9);
    plan.keys = keys;
    let mut calls = Vec::new();
    for round in 16..100 {
        let shape = Shape::draw(&plan, operations, &info(), round);
        let mut caller = Caller::new(&shape, 0);
        let mut args = Vec::new();
        for _ in 0..shape.calls {
            let op = caller.next(&mut args).expect("one");
            caller.observe(op, &args, Status::Ok, &answer(op, &args));
            calls.push((round, op, args.clone()));
        }
    }
    calls
}

#[test]
fn logs_are_read_where_they_end_and_elsewhere() {
    let operations = [(Op::LogAppend, Role::Any), (Op::LogRead, Role::Any)];
    let (mut read, mut near, mut deep) = (0, 0, 0);
    for round in 16..100 {
        let plan = Plan::new("x", 9);
        let shape = Shape::draw(&plan, &operations, &info(), round);
        let mut caller = Caller::new(&shape, 0);
        let (mut args, mut tail) = (Vec::new(), 0);
        for _ in 0..shape.calls {
            let (op, status) = match caller.next(&mut args).expect("one") {
                Op::LogRead if args[0] >= tail => (Op::LogRead, Status::Empty),
                op => (op, Status::Ok),
            };
            let result = if op == Op::LogAppend { tail } else { 7 };
            let results = if status == Status::Ok { &[result][..] } else { &[] };
            caller.observe(op, &args, status, results);
            if op == Op::LogAppend {
                tail += 1;
            } else {
                read += 1;
                near += i32::from((tail - 2..=tail + 2).contains(&args[0]));
                deep += i32::from(args[0] < tail / 2);
            }
        }
    }
    assert!(near > read / 4 && deep > read / 8, "{near} and {deep} of {read}");
}

#[test]
fn a_log_with_absurd_answers_is_read_at_plausible_positions() {
    let operations = [(Op::LogAppend, Role::Any), (Op::LogRead, Role::Any)];
    for tail in [i64::MAX, i64::MIN] {
        let calls = drawn_calls(&operations, 16, |_, _| vec![tail]);
        assert!(calls.iter().all(|(_, _, args)| (0..10_000_000).contains(&args[0])));
    }
}

#[test]
fn ranges_are_ordered_and_lists_fit_the_room_for_results() {
    let operations = [(Op::SetRangeCount, Role::Any), (Op::SetRangeList, Role::Any)];
    let calls = drawn_calls(&operations, 1000, |_, _| Vec::new());
    let width = |(_, _, args): &(u64, Op, Vec<i64>)| args[1] - args[0] + 1;
    let widest = |wanted| calls.iter().filter(|(_, op, _)| *op == wanted).map(width).max();
    assert!(calls.iter().all(|call| width(call) >= 1));
    assert_eq!(widest(Op::SetRangeList), Some(LISTED_MAX as i64));
    assert!(widest(Op::SetRangeCount) > Some(900));
}

/// The checker decides only short histories of several amounts.
#[test]
fn long_rounds_add_one_amount_and_short_ones_may_add_several() {
    let (mut several, mut seen) = (0, std::collections::HashSet::new());
    for round in 16..600 {
        let plan = Plan::new("x", 9);
        let shape = Shape::draw(&plan, &[(Op::CounterAdd, Role::Any)], &info(), round);
        let (mut caller, mut args) = (Caller::new(&shape, 0), Vec::new());
        let amounts: std::collections::HashSet<i64> = (0..shape.calls.min(100))
            .map(|_| {
                caller.next(&mut args).expect("one");
                args[0]
            })
            .collect();
        assert!(amounts.len() == 1 || shape.operations() <= AMOUNTS_CALLS_MAX, "{shape:?}");
        several += usize::from(amounts.len() > 1);
        seen.extend(amounts);
    }
    assert_eq!(seen, AMOUNTS.into());
    assert!((10..400).contains(&several), "{several}");
}
