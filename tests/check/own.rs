//! Compares what is shown of users' own operations with what is shown of the same operations of a
//! bundled model, which enumerations confirm; and judges them by other orders.

use std::collections::BTreeSet;

use interlap::check::{
    Limits, Partial, Partials, Verdict, check, check_wanting, order, partials, search_trace,
};
use interlap::core::history::{History, NEVER, OperationId};
use interlap::core::journal::Journal;
use interlap::core::own;
use interlap::model::{Consistency, Kind, Model, Spec};

use super::agreement::{SMALL, Shares};
use super::partials::{Done, enumerated};
use super::random::{Random, Shape, history};
use super::users::{Map, Owned, Queue, Register, journal};

/// Operations that are all near a failure.
const NEAR: usize = 16;

/// What a verdict is, without what it tells.
pub fn is_explained(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Consistent => Some(true),
        Verdict::Violation(_) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}

/// The ends of partial linearizations: what had taken effect, and what that left.
pub fn ends(
    partials: &Partials,
    name: impl Fn(OperationId) -> OperationId,
) -> BTreeSet<(Done, String)> {
    let end = |partial: &Partial| {
        let state = partial.steps.last().map_or(&partial.before, |step| &step.state);
        (partial.steps.iter().map(|step| name(step.operation)).collect(), state.clone())
    };
    partials.partials.iter().map(end).collect()
}

/// Whether an order keeps what returned before what was called, and has all that returned.
fn assert_is_order(own: &History, operations: &[OperationId]) {
    let mut first = Vec::new();
    operations.iter().for_each(|id| {
        if !first.contains(id) {
            first.push(*id);
        }
    });
    for (at, later) in first.iter().enumerate() {
        let start = |id: &OperationId| own.operation(*id).start;
        let end = own.operation(*later).end;
        assert!(first[..at].iter().all(|before| start(before) <= end), "{own:?}");
    }
    let has_returned = |id: &OperationId| own.operation(*id).end != NEVER;
    let missing = own.ids().filter(has_returned).find(|id| !first.contains(id));
    assert_eq!(missing, None, "{own:?}");
}

fn compare<M>(make: impl Fn() -> M, text: &str, shape: Shape, histories: usize)
where
    M: Model<Owned> + Send + Sync + 'static,
    M::State: Send + Sync,
{
    let (spec, mut random): (Spec, _) = (text.parse().expect(text), Random::new(29));
    let (limits, mut shares, mut shown) = (Limits::default(), Shares::default(), 0);
    for _ in 0..crate::how_many(histories) {
        let history = history(Shape { kind: spec.kind, ..shape }, &mut random);
        let journal = journal(&history);
        let own = own::history(&journal, make());
        let name = |id: OperationId| OperationId { thread: journal.client(id), index: id.index };
        use Consistency::{Linearizable, Quasi, Quiescent, Sequential};
        for consistency in [Linearizable, Sequential, Quiescent, Quasi(1)] {
            let [of_own, of_bundled] =
                [Spec::new(Kind::Own), spec].map(|of| Spec { consistency, ..of });
            let verdict = is_explained(&check(&own, &of_own, &limits));
            assert_eq!(
                verdict,
                is_explained(&check(&history, &of_bundled, &limits)),
                "{history:?}"
            );
        }
        let of_own = Spec::new(Kind::Own);
        let witness = match check(&journal, &make(), &limits) {
            Verdict::Violation(witness) => witness,
            verdict => {
                assert_eq!(verdict, Verdict::Consistent);
                shares.note(true);
                let order = order(&own, &of_own, &limits).expect("one was found");
                assert_is_order(&own, &order.operations);
                if shape.bulk == 0 {
                    // One at a time, in this order, each answer is right.
                    let mut alone = Journal::default();
                    for (at, id) in (0..).zip(&order.operations) {
                        let operation = journal.get(*id).operation.clone();
                        alone.push(0, operation, 2 * at, Some(2 * at + 1)).expect("in turn");
                    }
                    assert_eq!(check(&alone, &make(), &limits), Verdict::Consistent);
                }
                assert_eq!(order.states.len(), order.operations.len());
                continue;
            }
        };
        shares.note(false);
        let Ok(found) = partials(&own, &of_own, &witness.operations, &limits) else {
            assert!(history.drained, "{history:?}");
            continue;
        };
        assert!(search_trace(&own, &of_own, Some(&found), &limits).is_ok(), "{history:?}");
        let failed = name(found.failed);
        let key = found.key.map(|_| history.args(failed)[0]);
        // Of more operations some come before those that are near.
        if shape.bulk == 0 && found.more == 0 && history.len() <= NEAR {
            let all = enumerated((&history, key), history.operation(failed).end, &spec);
            assert_eq!(ends(&found, name), all, "{history:?}");
        }
        shown += 1;
    }
    shares.assert_healthy(text);
    assert!(shown * 10 > crate::how_many(histories), "{text}: {shown}");
}

#[test]
fn of_a_map_each_key_is_shown_for_itself() {
    compare(|| Map, "map", Shape { hides: 0, ..SMALL }, 6_000);
}

#[test]
fn of_a_register_all_operations_are_shown() {
    compare(|| Register, "register", Shape { hides: 0, ..SMALL }, 6_000);
}

#[test]
fn of_a_queue_all_operations_are_shown() {
    compare(|| Queue, "fifo", Shape { hides: 0, ..SMALL }, 4_000);
}

#[test]
fn operations_of_several_steps_are_shown_once() {
    let shape = Shape { bulk: 30, threads: (2, 3), operations: (3, 6), hides: 0, ..SMALL };
    compare(|| Queue, "fifo", shape, 4_000);
}

/// Where many orders are left open, one is looked for; what it leads to is never wrong.
#[test]
fn wide_histories_are_consistent_only_if_they_are() {
    let shape = Shape { threads: (12, 14), operations: (40, 50), hides: 0, pending: 4, ..SMALL };
    let shape = Shape { kind: Kind::Fifo, corruptions: 1, ..shape };
    // Those that need more configurations are decided by one order, or not.
    let few = Limits { configurations_max: 4_097, ..Limits::default() };
    let fewer = Limits { configurations_max: 4_096, ..Limits::default() };
    let (mut random, mut found, mut wrong) = (Random::new(31), 0, 0);
    for _ in 0..crate::how_many(500) {
        let history = history(shape, &mut random);
        let is_good = check(&history, &Spec::new(Kind::Fifo), &Limits::default());
        let is_good = is_explained(&is_good).expect("it is decided");
        let journal = journal(&history);
        // Values are counted up as they are added.
        let added = |id| history.args(id).first().map(|value| *value as u64);
        let verdict = is_explained(&check_wanting(&journal, &Queue, &few, &added));
        assert!(verdict.is_none_or(|verdict| verdict == is_good), "{history:?}");
        let undecided = is_explained(&check(&journal, &Queue, &fewer)).is_none();
        found += usize::from(undecided && verdict == Some(true));
        wrong += usize::from(undecided && !is_good);
    }
    assert!(found * 50 > crate::how_many(500) && wrong > 0, "{found} {wrong}");
}
