//! A history of a user's own operations, whose model it brings along.
//!
//! A [`History`] holds numbers, so each operation of a [`Journal`] gets one, and the model is asked
//! about that. All that shows a verdict on a bundled model shows it on a user's so.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::contract::Model;
use super::history::{Entry, History, NEVER, OperationId, Thread};
use super::interner::{Interner, NIL, Value};
use super::journal::Journal;
use super::operation::{Op, Status};

/// A state of any model.
#[derive(Clone)]
pub struct AnyState(Arc<dyn Erased>);

/// What states must be able to do, whatever their type.
trait Erased: Any + Send + Sync {
    fn is(&self, other: &dyn Erased) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
    fn debug(&self, formatter: &mut Formatter) -> fmt::Result;
    fn any(&self) -> &dyn Any;
}

impl<S: Any + Send + Sync + Eq + Hash + Debug> Erased for S {
    fn is(&self, other: &dyn Erased) -> bool {
        other.any().downcast_ref::<S>() == Some(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }

    fn debug(&self, formatter: &mut Formatter) -> fmt::Result {
        Debug::fmt(self, formatter)
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

impl AnyState {
    /// The state that a program of the model knows by this number.
    pub fn numbered(state: u32) -> AnyState {
        AnyState(Arc::new(state))
    }

    fn of<S: 'static>(&self) -> &S {
        // Not `Arc::any`, which an `Arc` would answer for itself.
        (*self.0).any().downcast_ref().expect("a state of this model")
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &AnyState) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.is(&*other.0)
    }
}

impl Eq for AnyState {}

impl Hash for AnyState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

impl Debug for AnyState {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        self.0.debug(formatter)
    }
}

/// A user's model of the operations of one history, which it knows by their numbers.
#[derive(Clone)]
pub struct Own {
    pub model: Arc<dyn Model<i64, State = AnyState> + Send + Sync>,
    /// The type of the model, as people read it.
    pub name: String,
    /// The texts of the numbers of operations, answers and parts.
    pub strings: Interner,
    /// By operation, where all concern independent parts of the object: the number of the part.
    parts: Vec<i64>,
    /// Where a program has the model: its process, and by operation the number by which that knows
    /// it.
    pub process: Option<(Arc<dyn Any + Send + Sync>, Vec<u32>)>,
}

impl Own {
    /// Whether the object has independent parts.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The number by which the program of the model knows an operation.
    pub fn asked(&self, operation: i64) -> Option<u32> {
        self.process.as_ref()?.1.get(place(operation)).copied()
    }

    /// The part of the object that an operation concerns, if there are independent ones.
    pub fn part(&self, operation: i64) -> Option<i64> {
        self.parts.get(place(operation)).copied()
    }
}

impl Debug for Own {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

impl PartialEq for Own {
    /// Whether it is the same object.
    fn eq(&self, other: &Own) -> bool {
        Arc::ptr_eq(&self.model, &other.model)
    }
}

/// Where the operation with this number stands: the interner gives the first numbers to them.
fn place(operation: i64) -> usize {
    operation.wrapping_sub(NIL + 1) as usize
}

/// A model, with the operations that numbers stand for.
struct Numbered<O, M> {
    model: M,
    operations: Vec<O>,
}

impl<O, M> Model<i64> for Numbered<O, M>
where
    O: Debug,
    M: Model<O>,
    M::State: Send + Sync + 'static,
{
    type State = AnyState;

    fn init(&self) -> AnyState {
        AnyState(Arc::new(self.model.init()))
    }

    fn step(&self, state: &AnyState, operation: &i64, next: &mut Vec<AnyState>) {
        let mut after = Vec::new();
        self.model.step(state.of(), &self.operations[place(*operation)], &mut after);
        next.extend(after.into_iter().map(|state| AnyState(Arc::new(state))));
    }

    fn is_empty(&self, state: &AnyState) -> bool {
        self.model.is_empty(state.of())
    }

    fn repeats(&self, step: &i64) -> bool {
        self.model.repeats(&self.operations[place(*step)])
    }

    fn reads(&self, operation: &i64) -> bool {
        self.model.reads(&self.operations[place(*operation)])
    }

    fn is_too_late(&self, state: &AnyState, operation: &i64) -> bool {
        self.model.is_too_late(state.of(), &self.operations[place(*operation)])
    }

    fn right_answer(&self, state: &AnyState, operation: &i64) -> Option<String> {
        self.model.right_answer(state.of(), &self.operations[place(*operation)])
    }

    fn describe_state(&self, state: &AnyState) -> String {
        self.model.describe_state(state.of())
    }

    fn weight(&self, state: &AnyState) -> usize {
        size_of::<M::State>() + self.model.weight(state.of())
    }
}

/// The journal as a history, with the same ids of operations. What the model says of an operation
/// is its call; what stands behind " -> ", its answer.
pub fn history<O, M>(journal: &Journal<O>, model: M) -> History
where
    O: Clone + Debug + Send + Sync + 'static,
    M: Model<O> + Send + Sync + 'static,
    M::State: Send + Sync + 'static,
{
    let name = std::any::type_name::<M>();
    let last = name.rsplit_once("::").filter(|(_, last)| !last.contains('>'));
    named(journal, model, last.map_or(name, |(_, last)| last).to_string())
}

/// As [`history`], of a model of which people read this name.
pub fn named<O, M>(journal: &Journal<O>, model: M, name: String) -> History
where
    O: Clone + Debug + Send + Sync + 'static,
    M: Model<O> + Send + Sync + 'static,
    M::State: Send + Sync + 'static,
{
    let (mut strings, mut operations, mut steps) = (Interner::of_texts(), Vec::new(), Vec::new());
    // By operation, the numbers of its steps, and its answer. Equal texts are held once.
    let mut described: Vec<(Range<i64>, Option<Arc<Value>>)> = Vec::new();
    let (mut wholes, mut texts) = (Vec::new(), FxHashMap::<String, Arc<Value>>::default());
    let mut word = |text: &str| match texts.get(text) {
        Some(word) => word.clone(),
        None => {
            let word = Arc::new(Value::Word(text.to_string()));
            texts.insert(text.to_string(), word.clone());
            word
        }
    };
    for (id, timed) in journal.operations() {
        let text = model.describe(&timed.operation);
        let (call, answer) = text.split_once(" -> ").unwrap_or((&text, ""));
        model.split(&timed.operation, &mut steps);
        if steps.is_empty() {
            steps.push(timed.operation.clone());
        }
        let call = word(call);
        let first = steps.iter().map(|_| strings.add(call.clone())).min().expect("a step");
        let numbers = first..first + steps.len() as i64;
        wholes.extend(steps.iter().map(|_| id));
        operations.append(&mut steps);
        described.push((numbers, (!answer.is_empty()).then(|| word(answer))));
    }
    let parts = parts(journal, &model, &wholes, &mut strings);
    let annotations =
        (!journal.annotations.is_empty()).then(|| Arc::new(journal.annotations.clone()));
    let mut history = History { drained: journal.drained, annotations, ..History::default() };
    for ((id, timed), (numbers, answer)) in journal.operations().zip(described) {
        let (is_open, args): (bool, Vec<i64>) = (timed.end == NEVER, numbers.collect());
        let answer = answer.filter(|_| !is_open).map(|text| strings.add(text));
        let entry = Entry {
            op: Op::Described,
            status: if is_open { Status::Unknown } else { Status::Ok },
            start: timed.start,
            end: timed.end,
            args: &args,
            results: answer.as_slice(),
        };
        if id.index == 0 {
            history.threads.push(Thread::new(journal.client(id)));
        }
        let own = history.threads.last_mut().expect("its first is before the others");
        own.push(entry).expect("the journal held the same rules");
    }
    let model = Arc::new(Numbered { model, operations });
    history.own = Some(Arc::new(Own { model, name, strings, parts, process: None }));
    history
}

/// By step of the operations `wholes`: the number of the part that the operation concerns. None if
/// one concerns all.
fn parts<O: Debug, M: Model<O>>(
    journal: &Journal<O>,
    model: &M,
    wholes: &[OperationId],
    strings: &mut Interner,
) -> Vec<i64> {
    let mut numbers = FxHashMap::default();
    let mut part = |id: &OperationId| {
        let key = model.part(&journal.get(*id).operation)?;
        let text = format!("{key:?}");
        Some(*numbers.entry(key).or_insert_with(|| strings.add(Value::Word(text))))
    };
    wholes.iter().map(&mut part).collect::<Option<Vec<i64>>>().unwrap_or_default()
}
