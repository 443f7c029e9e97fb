//! Searches a history under a bundled model: any model, any history, in time exponential in the
//! number of operations that overlap. The first response that no configuration survives is the
//! witness.

use super::early::{Early, counts_slots, moves_one_by_one};
use super::frontier::{MANY, Search, or_wider};
use super::minimize_witness;
use super::position::Position;
use super::producer_choices::ProducerChoices;
use super::producer_ranges::ProducerRanges;
use super::steps::{Step, Steps, call_of};
use super::strings::AllStrings;
use super::unsettled_queue::UnsettledQueue;
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::small::Few;
use crate::check::data::values::{Values, added_by, taken_by, taken_values};
use crate::check::data::witnesses::UNEXPLAINED;
use crate::check::exact::sizes::any_claim;
use crate::check::explanation::{Explanation, OfSearch, OfValues};
use crate::check::undecided::Exhausted;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{Entry, History, OperationId, Thread};
use crate::core::operation::Status;
use crate::model::{
    Bag, Call, Counted, Counter, Dictionary, Expect, Given, Itself, Kind, Log, Model, OrderedSet,
    Producers, Relaxed, Sequence, Spec, Stream, Texts,
};

/// What may be spent on each part of a history of which a shorter witness is sought.
const PART_LIMITS: Limits = Limits {
    configurations_max: 1 << 12,
    steps_max: 20_000,
    memory_max: 64 << 20,
    jobs: 1,
    cancelled: None,
    deadline: None,
};

/// Decides any history. `values` is none where some value was added twice.
pub fn check(history: &History, spec: &Spec, values: Option<&Values>, limits: &Limits) -> Verdict {
    let by_range = spec.kind == Kind::FifoPerProducer && values.is_some();
    let alike = if by_range { None } else { with_untaken_values_merged(history, spec) };
    match search(alike.as_ref().unwrap_or(history), spec, values, limits) {
        // In its own values.
        Verdict::Violation(Witness { rule: "lost", .. }) => Verdict::Violation(left_over(history)),
        verdict => verdict,
    }
}

fn search(history: &History, spec: &Spec, values: Option<&Values>, limits: &Limits) -> Verdict {
    let steps = Steps::new(history, spec, values);
    match spec.kind {
        _ if !steps.knows_producers() => {
            let model = ProducerChoices::new(history, spec);
            let observe = |event: &HistoryEvent, state: &_, most, next: &mut _| {
                model.event(event, state, most, next);
            };
            let observe: Option<Observe<_>> = Some(&observe);
            let early = Early::new(history, spec);
            Walk { history, steps: &steps, model: &model, observe, early, limits }.verdict()
        }
        // Strings that no get can tell apart are one state.
        Kind::Kv => run(history, spec, &steps, &AllStrings::new(history), limits),
        Kind::FifoPerProducer
            if let Some(values) = values
                && !counts_slots(history, spec)
                && !any_claim(history, spec) =>
        {
            run(history, spec, &steps, &ProducerRanges::new(history, values), limits)
        }
        Kind::Fifo | Kind::FifoRelaxed | Kind::FifoPerProducer
            if moves_one_by_one(history, spec) =>
        {
            run(history, spec, &steps, &UnsettledQueue::new(history, spec), limits)
        }
        _ => with_object(history, spec, Run { history, spec, steps: &steps, limits }),
    }
}

/// The history with one value in place of all that no removal answered: no answer tells these
/// apart, so neither need the states of a queue, stack or deque. None where it would be the same.
fn with_untaken_values_merged(history: &History, spec: &Spec) -> Option<History> {
    use Kind::{Deque, Fifo, FifoPerProducer, FifoRelaxed, Lifo, Pool};
    if !matches!(spec.kind, Deque | Fifo | FifoPerProducer | FifoRelaxed | Lifo | Pool) {
        return None;
    }
    let threads = &history.threads;
    let taken = taken_values(history);
    let added = threads.iter().flat_map(|thread| {
        thread.operations().iter().flat_map(move |operation| added_by(thread, operation))
    });
    let mut untaken = added.copied().filter(|value| !taken.contains(value));
    let one = untaken.next()?;
    untaken.find(|value| *value != one)?;
    let mut alike = history.without_threads();
    for thread in threads {
        let mut renamed = Thread::new(thread.client);
        for entry in thread.entries() {
            let name = |value: &i64| if taken.contains(value) { *value } else { one };
            let args: Vec<i64> = match entry.op.adds() {
                true => entry.args.iter().map(name).collect(),
                false => entry.args.to_vec(),
            };
            renamed.push(Entry { args: &args, ..entry }).expect("as it was");
        }
        alike.threads.push(renamed);
    }
    Some(alike)
}

/// What is done with a sequential object, whatever its type.
pub trait Task<'a> {
    type Output;
    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Self::Output;
}

/// Does `task` with the object of `spec`, which is none of transactions.
pub fn with_object<'a, T: Task<'a>>(history: &History, spec: &Spec, task: T) -> T::Output {
    let initial = (spec.kind == Kind::Register).then_some(0);
    match spec.kind {
        Kind::Lifo | Kind::Deque | Kind::FifoRelaxed if spec.is_relaxed() => {
            task.run(&counted(Relaxed { k: spec.k as usize }, spec))
        }
        Kind::Fifo | Kind::Lifo | Kind::Deque | Kind::FifoRelaxed => {
            task.run(&counted(Sequence, spec))
        }
        Kind::Pool | Kind::PriorityQueue => task.run(&counted(Bag { k: spec.k as usize }, spec)),
        Kind::FifoPerProducer => {
            task.run(&counted(Producers { threads: history.threads.len() }, spec))
        }
        Kind::Set | Kind::Map | Kind::Register => task.run(&Dictionary { initial }),
        Kind::RangeSet => task.run(&OrderedSet),
        Kind::Itself | Kind::Class => task.run(&Itself::new(history, spec)),
        Kind::Own => task.run(&Given::new(history)),
        Kind::Kv => task.run(&Texts),
        Kind::Counter => task.run(&Counter),
        Kind::Log if crate::check::data::scope::is_stream(history, spec) => task.run(&Stream),
        Kind::Log => task.run(&Log),
        Kind::Snapshot | Kind::Serializable => unreachable!("transactions are no one object's"),
    }
}

fn counted<M>(container: M, spec: &Spec) -> Counted<M> {
    Counted { container, spec: *spec }
}

struct Run<'a, 'b> {
    history: &'a History,
    spec: &'b Spec,
    steps: &'b Steps<'a>,
    limits: &'b Limits,
}

impl<'a> Task<'a> for Run<'a, '_> {
    type Output = Verdict;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Verdict {
        run(self.history, self.spec, self.steps, object, self.limits)
    }
}

/// A witness of this history as short as can be found quickly, instead of one that names the call
/// at which the search ended.
pub fn shorter(history: &History, spec: &Spec, witness: Witness, limits: &Limits) -> Witness {
    let limits = PART_LIMITS.within(limits);
    let contradicts = |part: &History| {
        let Ok(values) = Values::from_history(part) else { return false };
        matches!(check(part, spec, Some(&values), &limits), Verdict::Violation(_))
    };
    match witness.rule {
        UNEXPLAINED => minimize_witness::minimize(history, spec, &contradicts).unwrap_or(witness),
        _ => witness,
    }
}

/// Searches with any object whose state the steps of `steps` make sense to.
pub fn run<'a, M: Model<Call<'a>>>(
    history: &'a History,
    spec: &Spec,
    steps: &Steps<'a>,
    model: &M,
    limits: &Limits,
) -> Verdict {
    let early = Early::new(history, spec);
    Walk { history, steps, model, observe: None, early, limits }.verdict()
}

/// What an event does to a state, beyond the steps of its call: appends the states after it; as
/// many as there may be, and one more.
type Observe<'o, S> = &'o dyn Fn(&HistoryEvent, &S, usize, &mut Vec<S>);

/// A walk over the events of a history: the first return that no configuration survives is the
/// witness.
struct Walk<'a, 'w, M: Model<Call<'a>>> {
    history: &'a History,
    steps: &'w Steps<'a>,
    model: &'w M,
    observe: Option<Observe<'w, M::State>>,
    early: Early,
    limits: &'w Limits,
}

impl<'a, M: Model<Call<'a>>> Walk<'a, '_, M> {
    fn verdict(&self) -> Verdict {
        match or_wider(self.walk::<1>(), || self.walk::<MANY>()) {
            Ok(None) => Verdict::Consistent,
            Ok(Some(witness)) => Verdict::Violation(witness),
            Err(exhausted) => Verdict::Inconclusive(exhausted.into()),
        }
    }

    fn walk<const WORDS: usize>(&self) -> Result<Option<Witness>, Exhausted> {
        let Walk { history, steps, model, observe, limits, .. } = *self;
        let mut search: Search<_, _, WORDS> = Search::new(model, limits);
        let mut position = Position::new(model.init());
        let mut parts: Few<Step> = Few::new();
        for event in Events::new(history) {
            if let Some(observe) = observe {
                let change = |state: &_, most, next: &mut _| observe(&event, state, most, next);
                if !search.change(&mut position.frontier, change)? {
                    return Ok(Some(unexplained(event.id, position.under_way())));
                }
            }
            if !event.returns {
                steps.fill(event.id, &mut parts);
                if self.early.contains(event.id) {
                    let call = whole(call_of(history, event.id));
                    let take_effect = |state: &_, _, next: &mut _| model.step(state, &call, next);
                    search.change(&mut position.frontier, take_effect)?;
                    parts.clear();
                }
                self.early.leave_out(event.id, &mut parts);
                let steps = parts.iter().map(|step| (step.call, step.before));
                position.invoke(&mut search, event.id, steps)?;
            } else if !position.respond(&mut search, event.id)? {
                return Ok(Some(unexplained(event.id, position.under_way())));
            }
        }
        if history.drained && !search.can_be_empty(&position.frontier)? {
            return Ok(Some(left_over(history)));
        }
        Ok(None)
    }
}

/// An addition without an answer that has had its whole effect.
fn whole(call: Call) -> Call {
    let status = if call.op.adds() && call.status.is_open() { Status::Ok } else { call.status };
    Call { status, ..call }
}

/// No order has an answer, of those under way when it came.
pub fn unexplained(failed: OperationId, others: Vec<OperationId>) -> Witness {
    let explanation = Explanation::Search(OfSearch::NoOrder {
        failed,
        under_way: others.clone(),
        keys_min: None,
    });
    let operations = others.into_iter().chain([failed]).collect();
    Witness::new(UNEXPLAINED, explanation, operations)
}

/// Something remains after the structure answered empty: the values that nobody took.
pub fn left_over(history: &History) -> Witness {
    let mut taken: Vec<i64> = Vec::new();
    for thread in &history.threads {
        let removals = thread.operations().iter();
        taken.extend(removals.flat_map(|o| taken_by(thread, o)));
    }
    let (mut values, mut operations) = (Vec::new(), Vec::new());
    for id in history.ids() {
        let thread = &history.threads[id.thread as usize];
        for value in added_by(thread, history.operation(id)) {
            match taken.iter().position(|other| other == value) {
                Some(at) => drop(taken.swap_remove(at)),
                None => {
                    values.push(*value);
                    operations.push(id);
                }
            }
        }
    }
    operations.dedup();
    let explanation = Explanation::Values(OfValues::AllLost(values));
    Witness::new("lost", explanation, operations)
}
