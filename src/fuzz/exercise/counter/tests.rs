//! Compares the counter with plain enumeration of pairs, on random histories.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::core::history::{Entry, OperationId};
use crate::core::operation::Status;
use crate::core::random::Random;
use crate::trace::judged::{SAMPLED_FIRST, SAMPLED_ONE_IN};

/// A history of up to `threads` clients and a drain, some of whose calls are of unknown outcome.
fn history(random: &mut Random, ops: &[Op], threads: u32) -> History {
    let mut history = History::default();
    for client in 0..=threads {
        let mut time = if client == threads { 1000 } else { random.below(6) };
        for _ in 0..random.below(6) {
            let op = *random.pick(ops);
            let end = time + random.below(8);
            let pick = |random: &mut Random| random.below(4) as i64;
            let (low, wide) = (pick(random), pick(random));
            let args = match op {
                Op::SetRangeCount => vec![low, low + wide],
                Op::EnqueueBulk => (0..wide).collect(),
                Op::SetSize | Op::Dequeue => vec![],
                _ => vec![low],
            };
            let (status, results): (_, &[i64]) = match (op, random.below(5)) {
                (_, 0) => (Status::Unknown, &[]),
                (Op::SetRangeCount | Op::SetSize | Op::SetRank, _) => (Status::Ok, &[2]),
                (Op::EnqueueBulk | Op::Enqueue, 1) => (Status::Full, &[]),
                (Op::EnqueueBulk, 2) if wide > 0 => (Status::Ok, &[0]),
                (Op::Dequeue, 1) => (Status::Empty, &[]),
                (Op::Dequeue, _) => (Status::Ok, &[9]),
                (Op::DequeueBulk, 1 | 2) => (Status::Empty, &[]),
                (Op::DequeueBulk, _) if low > 0 => (Status::Ok, &[9]),
                (Op::DequeueBulk | Op::EnqueueBulk | Op::Enqueue, _) => (Status::Ok, &[]),
                (_, 1 | 2) => (Status::Failed, &[]),
                _ => (Status::Ok, &[]),
            };
            let entry = Entry { op, status, start: time, end, args: &args, results };
            history.push(client, entry).expect("in order");
            time = end + 1 + random.below(4);
        }
    }
    history
}

/// Pairs, answers and arguments, by enumeration of all pairs.
fn brute(history: &History, threads: u32) -> Exercise {
    let all: Vec<OperationId> = history.ids().collect();
    let client = |id: OperationId| history.threads[id.thread as usize].client;
    let ids: Vec<_> = all.into_iter().filter(|id| client(*id) < threads).collect();
    let answer = |id: OperationId| {
        let thread = &history.threads[id.thread as usize];
        let operation = history.operation(id);
        Answer { op: operation.op, outcome: AnswerKind::classify(thread, operation) }
    };
    let mut pairs: BTreeMap<(Answer, Answer), (u64, u64)> = BTreeMap::new();
    let mut answers: BTreeMap<Answer, u64> = BTreeMap::new();
    for (at, &a) in ids.iter().enumerate() {
        *answers.entry(answer(a)).or_default() += 1;
        for &b in ids[at + 1..].iter().filter(|b| b.thread != a.thread) {
            let (x, y) = (history.operation(a), history.operation(b));
            if x.start > y.end || y.start > x.end {
                continue;
            }
            let (one, other) = (answer(a).min(answer(b)), answer(a).max(answer(b)));
            let (p, q) = (keys(x.op, history.args(a)), keys(y.op, history.args(b)));
            let meet = p.0.max(q.0) <= p.1.min(q.1);
            let count = pairs.entry((one, other)).or_default();
            if meet { count.0 += 1 } else { count.1 += 1 }
        }
    }
    let mut arguments: BTreeMap<(Op, u64), u64> = BTreeMap::new();
    for id in &ids {
        if let Some(value) = measured(history.operation(*id).op, history.args(*id)) {
            *arguments.entry((history.operation(*id).op, value)).or_default() += 1;
        }
    }
    let callers = |op: Op| {
        let own = ids.iter().filter(|id| history.operation(**id).op == op);
        own.fold(0, |callers, id| callers | if client(*id) == 0 { 1 } else { 2 })
    };
    let argument = |((op, value), calls)| Argument { op, from: value, to: value, calls };
    Exercise {
        rounds: 1,
        threads: [(threads, 1)].into(),
        answers: answers
            .into_iter()
            .map(|(answer, calls)| Answers { answer, calls, callers: callers(answer.op) })
            .collect(),
        looked: Analysed { rounds: 1, calls: ids.len() as u64 },
        arguments: arguments.into_iter().map(argument).collect(),
        pairs: pairs
            .into_iter()
            .map(|((one, other), (same, apart))| Pair { one, other, same, apart })
            .collect(),
        depths: Vec::new(),
        held_max: None,
        shapes: 0,
    }
}

#[test]
fn a_counter_agrees_with_enumeration() {
    use Op::*;
    let families: [&[Op]; 2] = [
        &[SetInsert, SetRemove, SetContains, SetRangeCount, SetRank, SetSize],
        &[Enqueue, Dequeue, EnqueueBulk, DequeueBulk],
    ];
    let mut random = Random::new(11);
    for ops in families {
        let (mut sum, mut joined, mut added) =
            (Counter::default(), Counter::default(), Exercise::default());
        for round in (0..600).map(|number| number % SAMPLED_FIRST) {
            let threads = 1 + random.below(5) as u32;
            let history = history(&mut random, ops, threads);
            let mut counter = Counter::default();
            counter.begin(round, threads);
            counter.add(round, threads, &history);
            sum.begin(round, threads);
            sum.add(round, threads, &history);
            let (expected, found) = (brute(&history, threads), counter.exercise(0));
            let pairs: u64 = expected.pairs.iter().map(|pair| pair.same + pair.apart).sum();
            let depths: u64 =
                found.depths.iter().zip(0..).map(|(calls, others)| calls * others).sum();
            assert_eq!(depths, pairs, "each pair was under way when its second call began");
            assert_eq!(found.depths.iter().sum::<u64>(), expected.looked.calls);
            let counted = Exercise { depths: Vec::new(), held_max: None, ..found.clone() };
            assert_eq!(counted, expected, "{history:?}");
            assert_eq!(joined.join(counter).len(), 1);
            added.join(found);
        }
        assert_eq!(sum.exercise(0), joined.exercise(0), "counters add up");
        assert_eq!(sum.exercise(0), added, "and so do their sums");
        assert_eq!(sum.combinations(), added.pairs.len() as u64);
        let text = serde_json::to_string(&added).expect("JSON");
        assert_eq!(serde_json::from_str::<Exercise>(&text).expect("as it was"), added);
    }
}

#[test]
fn the_most_elements_at_once_are_counted() {
    let calls = [
        (Op::SetInsert, Status::Ok),
        (Op::SetInsert, Status::Failed),
        (Op::SetInsert, Status::Ok),
        (Op::SetRemove, Status::Ok),
        (Op::SetInsert, Status::Ok),
        (Op::SetContains, Status::Ok),
    ];
    let mut history = History::default();
    for (at, (op, status)) in calls.into_iter().enumerate() {
        let (start, args) = (10 * at as u64 + 1, [at as i64]);
        let entry = Entry { op, status, start, end: start + 1, args: &args, results: &[] };
        history.push(0, entry).expect("in order");
    }
    let held = |history: &History| {
        let mut counter = Counter::default();
        counter.add(0, 1, history);
        counter.exercise(0).held_max
    };
    assert_eq!(held(&history), Some(2));
    let asked = Entry {
        op: Op::SetContains,
        status: Status::Ok,
        start: 1,
        end: 2,
        args: &[1],
        results: &[],
    };
    let mut questions = History::default();
    questions.push(0, asked).expect("one call");
    assert_eq!(held(&questions), None, "nothing is added or removed");
}

#[test]
fn the_shape_does_not_depend_on_the_numbers_of_threads() {
    let shape = |clients: [u32; 2], second: u64| {
        let mut history = History::default();
        for (client, (start, end)) in clients.into_iter().zip([(1, 5), (second, 9)]) {
            let entry = Entry {
                op: Op::SetInsert,
                status: Status::Ok,
                start,
                end,
                args: &[i64::from(client)],
                results: &[],
            };
            history.push(client, entry).expect("one call each");
        }
        let mut counter = Counter::default();
        counter.add(0, 2, &history);
        Counter::default().join(counter)
    };
    let shapes: BTreeSet<Vec<u64>> =
        [shape([0, 1], 3), shape([1, 0], 3), shape([0, 1], 4), shape([0, 1], 7)].into();
    assert_eq!(shapes.len(), 2, "overlapping or not");
}

#[test]
fn the_number_of_a_round_decides_whether_it_is_sampled() {
    assert!((0..SAMPLED_FIRST).all(is_sampled));
    let after = SAMPLED_FIRST..SAMPLED_FIRST + 10_000 * SAMPLED_ONE_IN;
    let looked = after.filter(|round| is_sampled(*round)).count() as f64;
    assert!((looked / 10_000.0 - 1.0).abs() < 0.05, "{looked}");
    let mut counter = Counter::default();
    let skipped = (SAMPLED_FIRST..).find(|round| !is_sampled(*round)).expect("most are");
    counter.begin(skipped, 2);
    let history = history(&mut Random::new(3), &[Op::SetInsert], 2);
    counter.add(skipped, 2, &history);
    let exercise = counter.exercise(0);
    assert!(exercise.calls(Op::SetInsert) > 0, "its answers count all the same");
    assert_eq!((exercise.looked, exercise.pairs), (Analysed::default(), Vec::new()));
}
