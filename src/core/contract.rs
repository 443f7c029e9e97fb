//! The trait `Model`: a sequential object that histories are checked against.
//! A model maps a state and an operation to the possible states after it. No state means that the
//! object could not have given this answer.

use std::fmt::Debug;
use std::hash::Hash;

/// A sequential object whose operations (calls with their answers) are of type `O`.
///
/// Every operation takes effect at one instant, its linearization point (but see
/// [`split`](Model::split)). [`check`](crate::check::check) checks a model of your own by a general
/// search, whose time is exponential in the number of operations that overlap. The bundled models,
/// named by a [`Spec`](crate::model::Spec), have faster checkers. Both give a
/// [`Verdict`](crate::check::Verdict).
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
///             _ => {} // the object cannot give this answer
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
/// journal.push(3, acquire(true), 30, Some(40)).unwrap(); // a third holder, without a release
/// let verdict = check(&journal, &Semaphore, &Limits::default());
/// assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
/// ```
pub trait Model<O: Debug> {
    /// The state of the object. States with the same future behaviour should be equal, because the
    /// search visits equal states once: let `step` give one representative for all of them.
    type State: Clone + Eq + Hash + Debug;

    /// The state before the first operation.
    fn init(&self) -> Self::State;

    /// The same before a history of these operations, where it depends on which they are: on what
    /// keys there are, say. Those of a client are in the order in which it made them. What is
    /// [served](crate::serve::serve) is asked for this.
    fn init_for(&self, _operations: &mut dyn Iterator<Item = &O>) -> Self::State {
        self.init()
    }

    /// Appends to `next` every state that `operation` may lead to from `state`: none where the
    /// object cannot give this answer, several where it is nondeterministic. For an operation
    /// without an answer, append the state after every effect that it may have; the caller adds the
    /// case that it has none.
    fn step(&self, state: &Self::State, operation: &O, next: &mut Vec<Self::State>);

    /// Whether the object is empty. It is called only for histories that end with a drain. An
    /// object that has nothing to drain is always empty.
    fn is_empty(&self, _state: &Self::State) -> bool {
        true
    }

    /// The part of the object that `operation` concerns, if the object has independent parts: any
    /// key. (Write the type as it is here; the compiler warns of a narrower one.)
    /// [`init`](Model::init) and [`step`](Model::step) are then about one part. The operations on
    /// each are checked separately, from `init` on (P-compositionality: Horn and Kroening 2015), on
    /// several processors. If one operation of a history has no part, the history is checked as a
    /// whole.
    fn part(&self, _operation: &O) -> Option<impl Eq + Hash + Debug>
    where
        Self: Sized,
    {
        None::<()>
    }

    /// Whether `operation` can leave the state as it is. The search linearizes such an operation as
    /// soon as it does, which saves most of its work.
    fn reads(&self, _operation: &O) -> bool {
        false
    }

    /// Whether `step`, if it can come in `state`, may as well come here as later or never: every
    /// order in which it does not come here would be one in which it does. The search then goes no
    /// other way. Such a step leaves one state, in which it cannot come again. "No" is always
    /// correct, and costs time.
    fn at_once(&self, _state: &Self::State, _step: &O) -> bool {
        false
    }

    /// Whether the value that an operation is given tells when it came: before that which answers
    /// this value, as in a queue. The search for one order goes by that first; of a model served by
    /// [`serve`](crate::serve::serve). Either answer is correct, and the wrong one costs time.
    fn values_tell_order(&self) -> bool {
        true
    }

    /// Whether `operation` is illegal in `state` and in every state that can follow. The search
    /// abandons such a state while the operation is still to be linearized. "No" is always correct,
    /// and costs time.
    fn is_too_late(&self, _state: &Self::State, _operation: &O) -> bool {
        false
    }

    /// Marks those of the `open` operations that may as well be linearized after all that are
    /// `due`: every order in which one comes before them would be an order in which it comes after
    /// them. The search leaves these for later. Nothing is due at the end, where the object must
    /// be empty. To mark none is always correct, and costs time.
    fn may_wait(&self, _state: &Self::State, _due: &[&O], _open: &[&O], _waits: &mut [bool]) {}

    /// For an operation with several linearization points in its timebox: appends its steps in
    /// their order. Nothing appended: the operation is its only step.
    ///
    /// In two steps, its call and its answer, a history is interval-linearizable (Castañeda,
    /// Rajsbaum, Raynal, JACM 2018). No one order of whole operations explains that each of two
    /// finds the other:
    ///
    /// ```
    /// use std::collections::BTreeSet;
    ///
    /// use interlap::check::{Limits, Verdict, check};
    /// use interlap::core::journal::Journal;
    /// use interlap::model::Model;
    ///
    /// /// Each adds its number, and answers all numbers that were added.
    /// #[derive(Clone, Debug)]
    /// enum WriteSnapshot {
    ///     Whole { number: u32, answer: BTreeSet<u32> },
    ///     Write(u32),
    ///     Snapshot(BTreeSet<u32>),
    /// }
    /// use WriteSnapshot::{Snapshot, Whole, Write};
    ///
    /// struct Task;
    ///
    /// impl Model<WriteSnapshot> for Task {
    ///     type State = BTreeSet<u32>;
    ///
    ///     fn init(&self) -> BTreeSet<u32> {
    ///         BTreeSet::new()
    ///     }
    ///
    ///     fn split(&self, operation: &WriteSnapshot, steps: &mut Vec<WriteSnapshot>) {
    ///         let Whole { number, answer } = operation else { return };
    ///         steps.extend([Write(*number), Snapshot(answer.clone())]);
    ///     }
    ///
    ///     fn step(
    ///         &self,
    ///         added: &BTreeSet<u32>,
    ///         step: &WriteSnapshot,
    ///         next: &mut Vec<BTreeSet<u32>>,
    ///     ) {
    ///         match step {
    ///             Write(number) => next.push(added.iter().copied().chain([*number]).collect()),
    ///             Snapshot(answer) if answer != added => {}
    ///             _ => next.push(added.clone()),
    ///         }
    ///     }
    /// }
    ///
    /// let history = |boxes: [(u64, u64); 2]| {
    ///     let mut journal = Journal::default();
    ///     for (number, (start, end)) in (1..).zip(boxes) {
    ///         let whole = Whole { number, answer: BTreeSet::from([1, 2]) };
    ///         journal.push(number, whole, start, Some(end)).unwrap();
    ///     }
    ///     check(&journal, &Task, &Limits::default())
    /// };
    /// assert_eq!(history([(10, 30), (20, 40)]), Verdict::Consistent);
    /// let Verdict::Violation(witness) = history([(10, 30), (35, 40)]) else { panic!() };
    /// assert_eq!(witness.rule, "not-interval-linearizable");
    /// ```
    fn split(&self, _operation: &O, _steps: &mut Vec<O>) {}

    /// Whether a step of an operation takes effect any number of times, also none, before the step
    /// after it, which ends that. The last step of an operation does not.
    fn repeats(&self, _step: &O) -> bool {
        false
    }

    /// What the object answers to the call of `operation` in `state`, as people read it. It is
    /// shown beside an answer that the object cannot give.
    fn right_answer(&self, _state: &Self::State, _operation: &O) -> Option<String> {
        None
    }

    /// The operation as people read it: its call, and behind " -> " its answer.
    fn describe(&self, operation: &O) -> String {
        format!("{operation:?}")
    }

    /// The state as people read it.
    fn describe_state(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }

    /// Bytes that `state` owns on the heap, for the memory limit.
    fn weight(&self, _state: &Self::State) -> usize {
        0
    }
}
