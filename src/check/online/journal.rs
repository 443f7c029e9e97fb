//! Checks a user's model while its journal is made: each operation once, when all that may come
//! before its end is known. What is held are the configurations that are left, and the operations
//! since the last instant at which the state was certain and nothing was under way.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use crate::check::search::frontier::{MANY, Search};
use crate::check::search::journal::split;
use crate::check::search::position::Position;
use crate::check::undecided::{Exhausted, Undecided};
use crate::check::verdict::Limits;
use crate::core::history::{Misfit, NEVER};
use crate::core::in_order::{InOrder, Moment};
use crate::core::journal::Journal;
use crate::model::Model;

/// More operations are not kept to be shown.
const SHOWN_MAX: usize = 100_000;

/// Judges operations of type `O` under a model of the user's, in whatever order nodes report them.
///
/// ```
/// use interlap::check::{Limits, OnlineJournal};
/// use interlap::model::Model;
/// use interlap::view::judged::Judged;
///
/// /// A counter: each call answers how many came before.
/// struct Counter;
///
/// impl Model<u64> for Counter {
///     type State = u64;
///
///     fn init(&self) -> u64 {
///         0
///     }
///
///     fn step(&self, count: &u64, answer: &u64, next: &mut Vec<u64>) {
///         next.extend((answer == count).then_some(count + 1));
///     }
/// }
///
/// let mut online = OnlineJournal::new(Counter, [1, 2], Limits::default());
/// online.add(7, 1, 20, Some(25)).unwrap(); // client, operation, start, end
/// online.add(8, 0, 10, Some(22)).unwrap();
/// online.add(7, 1, 30, Some(31)).unwrap(); // the same answer once more
/// online.bound(1, 30).unwrap(); // node 1 reports nothing any more that began before 30
/// online.bound(2, 30).unwrap();
/// assert!(online.look().is_consistent());
/// online.bound(1, 40).unwrap();
/// online.bound(2, 35).unwrap();
/// assert!(!online.look().is_consistent());
///
/// let (journal, model) = online.violation().expect("it keeps short ones");
/// println!("{}", Judged::new(journal, model, &Limits::default())); // from what was certain on
/// ```
pub struct OnlineJournal<O: Debug, M: Model<O>> {
    model: M,
    limits: Limits,
    coming: InOrder<(u32, O)>,
    parts: Vec<Part<O, M::State>>,
    /// The number of each part, by its key.
    numbers: HashMap<Key, usize>,
    /// Of each operation under way, its part.
    under_way: HashMap<u64, usize>,
    has_parts: Option<bool>,
    returned: u64,
    ended: Option<Ended>,
}

/// Why nothing more is judged.
enum Ended {
    /// No order explains this part.
    Violated(usize),
    GaveUp(Undecided),
}

struct Part<O, S> {
    position: Position<u64, O, S, MANY>,
    /// The last state that was certain, and what was called since; none if that is too long.
    before: S,
    since: Option<Journal<O>>,
}

/// How far a check has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// An order explains what returned so far.
    Consistent {
        returned: u64,
    },
    /// The last of these responses is the first that no order explains.
    Violated {
        returned: u64,
    },
    Undecided(Undecided),
}

impl Progress {
    pub fn is_consistent(&self) -> bool {
        matches!(self, Progress::Consistent { .. })
    }
}

/// A model whose first state is another one.
pub struct Since<M, S> {
    pub model: M,
    pub state: S,
}

/// A journal, and the model from the state before it on.
pub type Violated<O, M> = (Journal<O>, Since<M, <M as Model<O>>::State>);

impl<O: Debug, M: Model<O>> Model<O> for Since<M, M::State> {
    type State = M::State;

    fn init(&self) -> M::State {
        self.state.clone()
    }

    fn step(&self, state: &M::State, operation: &O, next: &mut Vec<M::State>) {
        self.model.step(state, operation, next);
    }

    fn is_empty(&self, state: &M::State) -> bool {
        self.model.is_empty(state)
    }

    fn reads(&self, operation: &O) -> bool {
        self.model.reads(operation)
    }

    fn at_once(&self, state: &M::State, step: &O) -> bool {
        self.model.at_once(state, step)
    }

    fn is_too_late(&self, state: &M::State, operation: &O) -> bool {
        self.model.is_too_late(state, operation)
    }

    fn may_wait(&self, state: &M::State, due: &[&O], open: &[&O], waits: &mut [bool]) {
        self.model.may_wait(state, due, open, waits);
    }

    fn split(&self, operation: &O, steps: &mut Vec<O>) {
        self.model.split(operation, steps);
    }

    fn right_answer(&self, state: &M::State, operation: &O) -> Option<String> {
        self.model.right_answer(state, operation)
    }

    fn describe(&self, operation: &O) -> String {
        self.model.describe(operation)
    }

    fn describe_state(&self, state: &M::State) -> String {
        self.model.describe_state(state)
    }

    fn weight(&self, state: &M::State) -> usize {
        self.model.weight(state)
    }
}

impl<O: Clone + Debug, M: Model<O>> OnlineJournal<O, M> {
    /// Of these nodes, which are all that report. `limits` are those of each look.
    pub fn new(model: M, nodes: impl IntoIterator<Item = u32>, limits: Limits) -> Self {
        OnlineJournal {
            model,
            limits,
            coming: InOrder::new(nodes),
            parts: Vec::new(),
            numbers: HashMap::new(),
            under_way: HashMap::new(),
            has_parts: None,
            returned: 0,
            ended: None,
        }
    }

    /// Adds an operation as [`Journal::push`] does, but those of several clients in any order. Says
    /// why where it comes too late, because no node was to report it any more.
    pub fn add(
        &mut self,
        client: u32,
        operation: O,
        start: u64,
        end: Option<u64>,
    ) -> Result<(), Misfit> {
        self.coming.add((client, operation), start, end)
    }

    /// Adds all operations of a journal.
    pub fn add_all(&mut self, journal: &Journal<O>) -> Result<(), Misfit> {
        for (id, timed) in journal.operations() {
            let end = Some(timed.end).filter(|end| *end != NEVER);
            self.add(journal.client(id), timed.operation.clone(), timed.start, end)?;
        }
        Ok(())
    }

    /// This node reports no operation any more that started before `time`.
    pub fn bound(&mut self, node: u32, time: u64) -> Result<(), Misfit> {
        self.coming.bound(node, time)
    }

    /// Judges what lies before the least bound.
    pub fn look(&mut self) -> Progress {
        let mut search = Search::new(&self.model, &self.limits);
        let mut steps = Vec::new();
        while self.ended.is_none()
            && let Some(moment) = self.coming.next()
        {
            let (part, judged) = match moment {
                Moment::Invoked { number, operation: (client, operation), start, end } => {
                    let (key, is_part) = key_of(&self.model, &operation);
                    if *self.has_parts.get_or_insert(is_part) != is_part {
                        self.ended = Some(Ended::GaveUp(Undecided::PartsAndWhole));
                        break;
                    }
                    let at = *self.numbers.entry(key).or_insert(self.parts.len());
                    if at == self.parts.len() {
                        self.parts.push(Part::new(self.model.init()));
                    }
                    let part = &mut self.parts[at];
                    if let Err(misfit) = part.keep(client, operation.clone(), start, end) {
                        let why = Undecided::OutOfOrder(misfit.to_string());
                        self.ended = Some(Ended::GaveUp(why));
                        break;
                    }
                    self.under_way.extend(end.map(|_| (number, at)));
                    let is_open = end.is_none();
                    (at, part.invoke(&mut search, number, operation, is_open, &mut steps))
                }
                Moment::Returned { number, .. } => {
                    let at = self.under_way.remove(&number).expect("it was invoked");
                    self.returned += 1;
                    (at, self.parts[at].position.respond(&mut search, number))
                }
            };
            self.ended = match judged {
                Ok(true) => None,
                Ok(false) => Some(Ended::Violated(part)),
                Err(exhausted) => Some(Ended::GaveUp(exhausted.into())),
            };
        }
        let returned = self.returned;
        match &self.ended {
            None => Progress::Consistent { returned },
            Some(Ended::Violated(_)) => Progress::Violated { returned },
            Some(Ended::GaveUp(why)) => Progress::Undecided(why.clone()),
        }
    }

    /// No node reports anything any more: judges the rest.
    pub fn finish(&mut self) -> Progress {
        self.coming.close();
        self.look()
    }

    /// Operations that wait for bounds, and those that are kept to be shown.
    pub fn held(&self) -> (usize, usize) {
        let kept = self.parts.iter().filter_map(|part| part.since.as_ref());
        (self.coming.waiting(), kept.map(Journal::len).sum())
    }

    /// What was called of a part that is violated, since its state was last certain, and the model
    /// from that state on; none where that is too long.
    pub fn violation(mut self) -> Option<Violated<O, M>> {
        let Some(Ended::Violated(part)) = self.ended else { return None };
        let Part { before, since, .. } = self.parts.swap_remove(part);
        Some((since?, Since { model: self.model, state: before }))
    }
}

/// What a key of the user's is known by: its hash and its text. It may borrow from its operation.
type Key = (u64, String);

/// The key of the part that an operation concerns, and whether it is one and not the whole object.
fn key_of<O: Debug>(model: &impl Model<O>, operation: &O) -> (Key, bool) {
    let part = model.part(operation);
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&part);
    ((hash, format!("{part:?}")), part.is_some())
}

impl<O: Clone + Debug, S: Clone + PartialEq> Part<O, S> {
    fn new(init: S) -> Part<O, S> {
        let (position, before) = (Position::new(init.clone()), init);
        Part { position, before, since: Some(Journal::default()) }
    }

    /// Keeps an operation to be shown, and forgets those before where the state is certain.
    fn keep(
        &mut self,
        client: u32,
        operation: O,
        start: u64,
        end: Option<u64>,
    ) -> Result<(), Misfit> {
        if let ([only], true) =
            (&self.position.frontier.configurations[..], self.position.open.is_empty())
        {
            (self.before, self.since) = (only.state.clone(), Some(Journal::default()));
        }
        if let Some(since) = &mut self.since {
            since.push(client, operation, start, end)?;
        }
        self.since.take_if(|since| since.len() > SHOWN_MAX);
        Ok(())
    }

    /// Never a violation: only a response can be one.
    fn invoke<M: Model<O, State = S>>(
        &mut self,
        search: &mut Search<O, M, MANY>,
        number: u64,
        operation: O,
        is_open: bool,
        steps: &mut Vec<O>,
    ) -> Result<bool, Exhausted>
    where
        S: Eq + Hash,
    {
        if is_open && search.model.reads(&operation) {
            return Ok(true);
        }
        split(search.model, &operation, steps);
        let steps = (0usize..).zip(steps.drain(..)).map(|(at, step)| (step, at.checked_sub(1)));
        match is_open {
            true => self.position.invoke_pending(search, number, steps)?,
            false => drop(self.position.invoke(search, number, steps)?),
        }
        Ok(true)
    }
}
