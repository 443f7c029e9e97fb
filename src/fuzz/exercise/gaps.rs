//! Lists what a run never exercised, with options that may exercise it.

use serde::Serialize;

use super::answer::{BUCKETS, bounds, has_key};
use super::{Answer, AnswerKind, Exercise, expected, has_keys};
use crate::core::operation::Op;
use crate::core::plan::{Engine, Plan};

/// What the run's target and plans make possible.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offer {
    /// The operations of the target.
    pub operations: Vec<Op>,
    /// The number of values that fit; 0: unbounded.
    pub capacity: u64,
    /// The maximum over all plans, as that of keys.
    pub threads: u32,
    pub keys: u64,
    /// Whether some run had native threads.
    pub is_native: bool,
    /// Operations that every plan leaves out.
    pub left_out: Vec<String>,
}

/// Something that never happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// A sentence without its full stop: "remove never answered false".
    pub never: String,
    /// Options of `interlap fuzz` that may make it happen, or what the adapter lacks; empty: a
    /// longer run may.
    #[serde(rename = "try")]
    pub try_: String,
}

impl Offer {
    pub fn new<'a>(
        operations: &[Op],
        capacity: u64,
        plans: impl Iterator<Item = &'a Plan>,
    ) -> Offer {
        let operations = operations.to_vec();
        let left_out = operations.iter().map(|op| op.name().to_string()).collect();
        let mut offer = Offer { operations, capacity, left_out, ..Offer::default() };
        for plan in plans {
            offer.threads = offer.threads.max(plan.threads);
            offer.keys = offer.keys.max(plan.keys);
            offer.is_native |= plan.engine != Engine::Controlled;
            offer.left_out.retain(|name| plan.weights.contains(&(name.clone(), 0)));
        }
        offer
    }
}

/// All gaps, the widest first.
pub fn gaps(exercise: &Exercise, offer: &Offer) -> Vec<Gap> {
    if exercise.rounds == 0 {
        return vec![gap("no round was over in which calls may overlap", "--for 60s")];
    }
    let mut gaps = Vec::new();
    if offer.operations.iter().all(|op| says_nothing_held(*op)) {
        gaps.push(gap(
            "no answer said what it held, so a lost value cannot have shown",
            "an adapter with a method that removes or reads",
        ));
    }
    let called = |op: &&Op| exercise.calls(**op) > 0;
    for op in offer.operations.iter().filter(|op| !called(op)) {
        let is_left_out = offer.left_out.iter().any(|name| name == op.name());
        let why = if is_left_out { " (--weight leaves it out)" } else { "" };
        gaps.push(gap(format!("{} was never called{why}", op.name()), weights(&[*op])));
    }
    let ops: Vec<Op> = offer.operations.iter().filter(called).copied().collect();
    if exercise.depths.len() < 2 {
        gaps.push(gap("no call overlapped another", overlap_options(offer)));
    } else {
        pairs(exercise, &ops, &mut gaps);
        keys(exercise, &ops, offer, &mut gaps);
    }
    for op in &ops {
        answers(exercise, *op, offer, &mut gaps);
    }
    size(exercise, &ops, offer, &mut gaps);
    gaps
}

/// A structure that held more elements than this at once was seen to grow.
const HELD_MANY: u64 = 1024;

/// How large the structure never was.
fn size(exercise: &Exercise, ops: &[Op], offer: &Offer, gaps: &mut Vec<Gap>) {
    let has_keys = ops.iter().any(|op| has_key(*op));
    let Some(held) = exercise.held_max else { return };
    let held = if has_keys { held.min(offer.keys) } else { held };
    if offer.capacity > 0 || held > HELD_MANY {
        return;
    }
    let adds: Vec<Op> = ops.iter().copied().filter(|op| adds(*op)).collect();
    let keys = if has_keys { format!("--keys {} ", HELD_MANY * 4) } else { String::new() };
    gaps.push(gap(
        format!("it never held more than {held} elements, so it may never have grown"),
        format!("{keys}--calls {} {}", HELD_MANY * 2, weights(&adds)),
    ));
}

/// Whether no answer of the operation depends on what the structure holds. A put, a write or an
/// addition may answer what was there before.
fn says_nothing_held(op: Op) -> bool {
    use Op::*;
    op.adds()
        || matches!(op, KvPut | KvAppend)
        || matches!(op, StoreBegin | StoreWrite | StoreRemove | StoreCommit | StoreAbort)
}

/// Whether the operation adds an element.
fn adds(op: Op) -> bool {
    op.adds() || matches!(op, Op::SetInsert | Op::MapInsertIfAbsent | Op::MapPut | Op::LogAppend)
}

fn gap(never: impl Into<String>, try_: impl Into<String>) -> Gap {
    Gap { never: never.into(), try_: try_.into() }
}

fn weights(ops: &[Op]) -> String {
    let weights: Vec<String> = ops.iter().map(|op| format!("--weight {}=8", op.name())).collect();
    weights.join(" ")
}

/// The options that make calls overlap.
fn overlap_options(offer: &Offer) -> &'static str {
    match (offer.threads, offer.is_native) {
        (..2, _) => "--threads 4",
        (_, true) => "--engine controlled",
        (_, false) => "--threads 8 --calls 16",
    }
}

/// Operations that never overlapped.
fn pairs(exercise: &Exercise, ops: &[Op], gaps: &mut Vec<Gap>) {
    for (at, one) in ops.iter().enumerate() {
        for other in &ops[at..] {
            if exercise.overlaps(*one, *other) != (0, 0) || !exercise.may_overlap(*one, *other) {
                continue;
            }
            let (name, second) = (one.name(), other.name());
            gaps.push(match one == other {
                true => gap(format!("two calls of {name} never overlapped"), weights(&[*one])),
                false => gap(format!("{name} never overlapped {second}"), weights(&[*one, *other])),
            });
        }
    }
}

/// Operations that overlapped, but never on the same key or never on different ones; unused keys.
fn keys(exercise: &Exercise, ops: &[Op], offer: &Offer, gaps: &mut Vec<Gap>) {
    for (at, one) in ops.iter().enumerate() {
        for other in ops[at..].iter().filter(|other| has_keys(*one) && has_keys(**other)) {
            let names = match one == other {
                true => format!("two calls of {}", one.name()),
                false => format!("{} and {}", one.name(), other.name()),
            };
            match exercise.overlaps(*one, *other) {
                (0, 1..) => {
                    gaps.push(gap(format!("{names} never overlapped on the same key"), "--keys 2"));
                }
                (1.., 0) if offer.keys > 1 && has_key(*one) && has_key(*other) => gaps.push(gap(
                    format!("{names} never overlapped on different keys"),
                    format!("--keys {}", offer.keys * 2),
                )),
                _ => {}
            }
        }
    }
    if !ops.iter().any(|op| has_key(*op)) {
        return;
    }
    let is_used = |low: u64| exercise.arguments.iter().any(|a| has_key(a.op) && a.from == low);
    let name = |(low, high): (u64, u64)| match high.min(offer.keys - 1) {
        high if high > low => format!("{low} to {high}"),
        _ => low.to_string(),
    };
    let buckets = (0..BUCKETS).map(bounds).filter(|(low, _)| *low < offer.keys);
    let unused: Vec<String> = buckets.filter(|(low, _)| !is_used(*low)).map(name).collect();
    match &unused[..] {
        [] => {}
        [key] => gaps.push(gap(format!("key {key} was never used"), "")),
        keys => gaps.push(gap(format!("keys {} were never used", keys.join(", ")), "")),
    }
}

/// Answers that an operation never gave.
fn answers(exercise: &Exercise, op: Op, offer: &Offer, gaps: &mut Vec<Gap>) {
    let given = |outcome| {
        let answer = Answer { op, outcome };
        exercise.answers.iter().any(|a| a.answer == answer)
    };
    // A void method gives no other answer.
    if given(AnswerKind::Unsaid) {
        return;
    }
    // One that takes all it is asked for, or nothing, takes no part.
    let is_whole = op == Op::DequeueBulk && given(AnswerKind::Failed);
    for outcome in expected(op, offer.capacity > 0) {
        if is_whole && outcome == AnswerKind::Part {
            continue;
        }
        // A bulk call that added only some of its values found the structure full.
        let is_bulk_full = (op, outcome) == (Op::EnqueueBulk, AnswerKind::Full);
        if given(outcome) || is_bulk_full && given(AnswerKind::Part) {
            continue;
        }
        let words = match is_bulk_full {
            true => "full, or that only some were added",
            false => outcome.words(op),
        };
        let never = format!("{} never answered {words}", op.name());
        gaps.push(gap(never, options_for(op, outcome, offer)));
    }
}

/// The options that make an answer more likely.
fn options_for(op: Op, outcome: AnswerKind, offer: &Offer) -> String {
    let of = |wanted: fn(Op) -> bool| {
        let found: Vec<Op> = offer.operations.iter().copied().filter(|op| wanted(*op)).collect();
        weights(&found)
    };
    let removes = |op: Op| op.removes() || matches!(op, Op::SetRemove | Op::MapRemove);
    match (op, outcome) {
        (_, AnswerKind::Full) => {
            format!("{} --calls {}", of(adds), offer.capacity.saturating_mul(2))
        }
        (Op::SetInsert | Op::MapInsertIfAbsent, AnswerKind::Failed) => "--keys 2".to_string(),
        (Op::MapCompareExchange, AnswerKind::Done) => "--keys 1".to_string(),
        (_, AnswerKind::Done) if op.removes() || has_key(op) => of(adds),
        (_, AnswerKind::Empty | AnswerKind::Failed | AnswerKind::Part) if op.removes() => {
            weights(&[op])
        }
        (Op::SetRemove | Op::MapRemove, AnswerKind::Failed) => weights(&[op]),
        (_, AnswerKind::Failed) if has_key(op) => of(removes),
        _ => weights(&[op]),
    }
}

/// The number of pairs of given answers whose calls could overlap, and those pairs that never did.
pub fn pairs_of_answers(exercise: &Exercise) -> (usize, Vec<(Answer, Answer)>) {
    let is_known = |a: &&super::Answers| {
        !matches!(a.answer.outcome, AnswerKind::Unknown | AnswerKind::Pending)
    };
    let given: Vec<Answer> = exercise.answers.iter().filter(is_known).map(|a| a.answer).collect();
    let (mut all, mut missing) = (0, Vec::new());
    for (at, one) in given.iter().enumerate() {
        for other in given[at..].iter().filter(|other| exercise.may_overlap(one.op, other.op)) {
            all += 1;
            let is_there = |pair: &super::Pair| {
                (pair.one, pair.other) == (*one, *other) || (pair.one, pair.other) == (*other, *one)
            };
            if !exercise.pairs.iter().any(is_there) {
                missing.push((*one, *other));
            }
        }
    }
    (all, missing)
}

#[cfg(test)]
mod tests {
    use super::super::{Answers, Pair};
    use super::*;

    fn answers(op: Op, outcome: AnswerKind, callers: u8) -> Answers {
        Answers { answer: Answer { op, outcome }, calls: 5, callers }
    }

    fn never(exercise: &Exercise, offer: &Offer) -> Vec<(String, String)> {
        gaps(exercise, offer).into_iter().map(|gap| (gap.never, gap.try_)).collect()
    }

    fn has(gaps: &[(String, String)], never: &str, advice: &str) {
        assert!(gaps.contains(&(never.to_string(), advice.to_string())), "{never}: {gaps:#?}");
    }

    #[test]
    fn a_structure_that_stayed_small_never_grew() {
        let plan = Plan::new("x", 1);
        let held = |held_max, capacity| {
            let offer = Offer::new(&[Op::SetInsert], capacity, [&plan].into_iter());
            let insert = answers(Op::SetInsert, AnswerKind::Done, 3);
            let exercise = Exercise {
                rounds: 1,
                answers: vec![insert],
                depths: vec![5, 9],
                held_max,
                ..Exercise::default()
            };
            let gaps = never(&exercise, &offer);
            gaps.into_iter().find(|(never, _)| never.starts_with("it never held"))
        };
        let (never, options) = held(Some(5), 0).expect("a gap");
        assert_eq!(never, "it never held more than 5 elements, so it may never have grown");
        assert_eq!(options, "--keys 4096 --calls 2048 --weight insert=8");
        let keys =
            format!("it never held more than {} elements, so it may never have grown", plan.keys);
        assert_eq!(held(Some(900), 0).expect("a gap").0, keys, "no more than there are keys");
        assert_eq!(held(Some(5), 8), None, "a structure of fixed size");
        assert_eq!(held(None, 0), None, "no structure of elements");
    }

    #[test]
    fn what_never_happened_is_listed_with_options() {
        use Op::*;
        let mut plan = Plan::new("x", 1);
        (plan.keys, plan.weights) = (4, vec![("contains".to_string(), 0)]);
        let operations = [SetInsert, SetRemove, SetContains];
        let offer = Offer::new(&operations, 0, [&plan].into_iter());
        let insert = answers(SetInsert, AnswerKind::Done, 3);
        let remove = answers(SetRemove, AnswerKind::Done, 3);
        let pair = |one: Answers, other: Answers, same, apart| Pair {
            one: one.answer,
            other: other.answer,
            same,
            apart,
        };
        let key = |key| super::super::Argument { op: SetInsert, from: key, to: key, calls: 1 };
        let exercise = Exercise {
            rounds: 3,
            answers: vec![insert, remove],
            pairs: vec![pair(insert, insert, 2, 0), pair(insert, remove, 0, 7)],
            arguments: vec![key(0), key(3)],
            depths: vec![5, 9],
            ..Exercise::default()
        };
        let gaps = never(&exercise, &offer);
        has(&gaps, "contains was never called (--weight leaves it out)", "--weight contains=8");
        has(&gaps, "two calls of remove never overlapped", "--weight remove=8");
        has(&gaps, "insert and remove never overlapped on the same key", "--keys 2");
        has(&gaps, "two calls of insert never overlapped on different keys", "--keys 8");
        has(&gaps, "keys 1, 2 were never used", "");
        has(&gaps, "remove never answered false", "--weight remove=8");
        has(&gaps, "insert never answered false", "--keys 2");
        assert_eq!(gaps.len(), 7, "{gaps:#?}");
        let (all, missing) = pairs_of_answers(&exercise);
        assert_eq!((all, missing), (3, vec![(remove.answer, remove.answer)]));
    }

    #[test]
    fn a_loss_that_no_operation_can_show_is_listed() {
        let plan = Plan::new("x", 1);
        let exercise = Exercise { rounds: 1, depths: vec![5, 9], ..Exercise::default() };
        let is_listed = |operations: &[Op]| {
            let gaps = never(&exercise, &Offer::new(operations, 0, [&plan].into_iter()));
            gaps[0].0.starts_with("no answer said what it held")
        };
        use Op::*;
        for [adds, shows] in
            [[Enqueue, Dequeue], [Push, Pop], [KvAppend, KvGet], [StoreWrite, StoreRead]]
        {
            assert!(is_listed(&[adds]) && !is_listed(&[adds, shows]), "{adds:?}");
        }
    }

    #[test]
    fn answers_that_an_adapter_cannot_give_are_not_expected() {
        use Op::*;
        let plan = Plan::new("x", 1);
        let never = |given: &[Answers], threads: u32, capacity: u64| {
            let mut operations: Vec<Op> = given.iter().map(|a| a.answer.op).collect();
            operations.dedup();
            let offer = Offer::new(&operations, capacity, [&plan].into_iter());
            let exercise = Exercise {
                rounds: 3,
                threads: [(threads, 3)].into_iter().collect(),
                answers: given.to_vec(),
                depths: vec![5, 9],
                ..Exercise::default()
            };
            let gaps = gaps(&exercise, &offer);
            gaps.into_iter().map(|gap| gap.never).collect::<Vec<String>>()
        };
        // One producer, one consumer: the second thread's calls cannot overlap each other.
        let queue = [
            answers(Enqueue, AnswerKind::Done, 1),
            answers(Dequeue, AnswerKind::Done, 2),
            answers(Dequeue, AnswerKind::Empty, 2),
        ];
        assert_eq!(never(&queue, 2, 0), ["enqueue never overlapped dequeue"]);
        let two = "two calls of dequeue never overlapped".to_string();
        assert!(never(&queue, 3, 0).contains(&two));
        // Only some were added: there was no room for the rest.
        let bulk = |outcome| {
            let mut given = queue.to_vec();
            given.extend([AnswerKind::Done, outcome].map(|of| answers(EnqueueBulk, of, 1)));
            given
        };
        let full = "enqueue_bulk never answered full, or that only some were added";
        let is_missing = |given: Vec<Answers>| never(&given, 2, 8).contains(&full.to_string());
        assert!(is_missing(bulk(AnswerKind::Done)));
        assert!(!is_missing(bulk(AnswerKind::Part)) && !is_missing(bulk(AnswerKind::Full)));
        // A store's remove need not answer whether the key was there.
        let remove = never(&[answers(StoreRemove, AnswerKind::Done, 1)], 2, 0);
        assert!(remove.iter().all(|never| !never.contains("answered")), "{remove:?}");
    }

    #[test]
    fn calls_of_one_thread_are_not_expected_to_overlap() {
        use Op::*;
        let plan = Plan::new("x", 1);
        let operations = [DequePush, DequeTake, DequeSteal];
        let offer = Offer::new(&operations, 0, [&plan].into_iter());
        let given = [
            answers(DequePush, AnswerKind::Done, 1),
            answers(DequeTake, AnswerKind::Done, 1),
            answers(DequeTake, AnswerKind::Empty, 1),
            answers(DequeSteal, AnswerKind::Done, 2),
            answers(DequeSteal, AnswerKind::Empty, 2),
        ];
        let exercise = Exercise {
            rounds: 3,
            answers: given.to_vec(),
            depths: vec![5, 9],
            ..Exercise::default()
        };
        let gaps = never(&exercise, &offer);
        has(&gaps, "push never overlapped steal", "--weight push=8 --weight steal=8");
        has(&gaps, "two calls of steal never overlapped", "--weight steal=8");
        // The owner's calls cannot overlap, and there is always room.
        assert_eq!(gaps.len(), 3, "{gaps:#?}");
        let bounded = Offer { capacity: 8, ..offer };
        let full = never(&exercise, &bounded);
        has(&full, "push never answered full", "--weight push=8 --calls 16");
        assert_eq!(full.len(), 4);
        let alone = Exercise { depths: vec![5], ..exercise };
        has(&never(&alone, &bounded), "no call overlapped another", "--engine controlled");
    }
}
