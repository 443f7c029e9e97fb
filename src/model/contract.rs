//! What a model is: a plain sequential object. A state and an operation come in, the states that
//! the operation may leave behind go out; none means that the object could not have answered so.
//! Knows nothing of threads running at once, time, or histories.

use std::fmt::Debug;
use std::hash::Hash;

/// A sequential object whose operations (calls with their answers) are of type `O`.
///
/// Every operation happens at one instant (but see [`split`](Model::split)). A model of a user's
/// own is judged by the general search, in time exponential in the number of operations that
/// overlap; the bundled ones, named by a [`Spec`](super::Spec), have faster checkers. Both go
/// through [`check`](crate::check::check) to the same [`Verdict`](crate::check::Verdict).
///
/// ```
/// use interlap::check::{Limits, Verdict, check};
/// use interlap::core::journal::Journal;
/// use interlap::model::Model;
///
/// /// A semaphore: up to two holders at once.
/// struct Semaphore;
///
/// #[derive(Clone, Debug)]
/// enum Operation {
///     TryAcquire { granted: bool },
///     Release,
/// }
///
/// impl Model<Operation> for Semaphore {
///     type State = u32; // how many hold it
///
///     fn init(&self) -> u32 {
///         0
///     }
///
///     fn step(&self, held: &u32, operation: &Operation, next: &mut Vec<u32>) {
///         match operation {
///             Operation::TryAcquire { granted: true } if *held < 2 => next.push(held + 1),
///             Operation::TryAcquire { granted: false } if *held == 2 => next.push(*held),
///             Operation::Release if *held > 0 => next.push(held - 1),
///             _ => {} // the object could not have answered so
///         }
///     }
/// }
///
/// let mut journal = Journal::default();
/// let acquire = |granted| Operation::TryAcquire { granted };
/// journal.push(1, acquire(true), 10, Some(20)).unwrap(); // client, operation, start, end
/// journal.push(2, acquire(true), 12, Some(22)).unwrap();
/// journal.push(3, acquire(false), 15, Some(25)).unwrap();
/// assert_eq!(check(&journal, &Semaphore, &Limits::default()), Verdict::Consistent);
///
/// journal.push(3, acquire(true), 30, Some(40)).unwrap(); // a third, and nobody has released
/// let verdict = check(&journal, &Semaphore, &Limits::default());
/// assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
/// ```
pub trait Model<O: Debug> {
    /// What the object holds. States that behave alike from here on should be equal: what is equal
    /// is looked at once. (So a view of the state, as other checkers have it, is a matter of
    /// `step`: let it give the same representative for all states of one view.)
    type State: Clone + Eq + Hash + Debug;

    /// The state before the first operation.
    fn init(&self) -> Self::State;

    /// Appends to `next` every state that `operation` may lead to from `state`: none where the
    /// object cannot answer so, several where it is free to choose. Of an operation without an
    /// answer every effect is listed that it may have; that it may have none is the caller's
    /// business.
    fn step(&self, state: &Self::State, operation: &O, next: &mut Vec<Self::State>);

    /// Whether nothing is left in the object; a state that cannot be drained counts as empty.
    /// Asked of histories alone that end in a drain.
    fn is_empty(&self, _state: &Self::State) -> bool {
        true
    }

    /// The part of the object that `operation` concerns, if it has independent parts: the
    /// operations on each are judged alone, beginning with [`init`](Model::init)
    /// (P-compositionality: Horn and Kroening 2015), and at once on several processors. An
    /// operation without a part concerns them all, and then nothing is parted.
    fn part(&self, _operation: &O) -> Option<i64> {
        None
    }

    /// Whether `operation` can never change any state, whatever the state: such operations take
    /// effect as soon as they are legal, which saves the search most of its work.
    fn reads(&self, _operation: &O) -> bool {
        false
    }

    /// Whether `operation` can never happen any more once the object has come to `state`, whatever
    /// else happens: a search goes no further there while it must. Said of nothing, all is tried.
    fn is_too_late(&self, _state: &Self::State, _operation: &O) -> bool {
        false
    }

    /// The instants of an operation that has several within its box: appended to `steps`, each a
    /// step that comes after the one before. Nothing appended: it has one, and is its own step.
    fn split(&self, _operation: &O, _steps: &mut Vec<O>) {}

    /// The operation, for people.
    fn describe(&self, operation: &O) -> String {
        format!("{operation:?}")
    }

    /// The state, for people.
    fn describe_state(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }

    /// Bytes that `state` holds outside of itself, for the limit on memory.
    fn weight(&self, _state: &Self::State) -> usize {
        0
    }
}
