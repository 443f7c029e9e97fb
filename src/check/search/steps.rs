//! Finds the steps at which an operation takes effect: one for most; one for each element of a bulk
//! operation that is not atomic; one for each producer's queue of an "empty" answer that may look
//! at them one after another.

use crate::check::data::small::Few;
use crate::check::data::values::{Values, taken_by};
use crate::core::history::{History, Operation, OperationId, Thread};
use crate::core::operation::{Op, Status};
use crate::model::{Bulk, Call, Empty, Kind, Spec};

/// One instant of an operation.
pub struct Step<'a> {
    pub call: Call<'a>,
    /// The number of the operation's step that must take effect before.
    pub before: Option<usize>,
}

/// What an operation does to its object.
pub fn call_of(history: &History, id: OperationId) -> Call<'_> {
    let thread = &history.threads[id.thread as usize];
    let operation = &thread.operations()[id.index as usize];
    let (args, results) = (thread.args(operation), thread.results(operation));
    let (op, status) = (operation.op, operation.status);
    Call { op, status, args, results, id, queue: None }
}

/// What splits operations into steps.
pub struct Steps<'a> {
    history: &'a History,
    spec: Spec,
    /// None where some value was added twice.
    values: Option<&'a Values>,
    /// The threads that add values.
    producers: Few<u32>,
    /// How many of the added values nobody is known to have taken.
    untaken: usize,
}

impl<'a> Steps<'a> {
    pub fn new(history: &'a History, spec: &Spec, values: Option<&'a Values>) -> Steps<'a> {
        let (mut added, mut taken, mut producers) = (0, 0, Few::new());
        for (at, thread) in history.threads.iter().enumerate() {
            if thread.operations().iter().any(|operation| operation.op.adds()) {
                producers.push(at as u32);
            }
            for operation in thread.operations() {
                added += crate::check::data::values::added_by(thread, operation).len();
                taken += taken_by(thread, operation).len();
            }
        }
        Steps { history, spec: *spec, values, producers, untaken: added.saturating_sub(taken) }
    }

    /// Whether the producers of values are known as far as the model's promises are about them.
    /// Where some value was added twice they may have to be chosen: see
    /// [`super::producer_choices`].
    pub fn knows_producers(&self) -> bool {
        let Spec { kind, empty, bulk, .. } = self.spec;
        let any = |test: &dyn Fn(&Thread, &Operation) -> bool| {
            let threads = self.history.threads.iter();
            threads.into_iter().any(|thread| thread.operations().iter().any(|o| test(thread, o)))
        };
        let free = bulk == Bulk::Atomic
            || (bulk == Bulk::Element
                && matches!(kind, Kind::Fifo | Kind::FifoRelaxed | Kind::Pool));
        self.values.is_some()
            || ((free || !any(&|thread, o| taken_by(thread, o).len() > 1))
                && (empty != Empty::Count || !any(&|_, o| o.status == Status::Empty)))
    }

    /// Fills `steps` with the operation's steps; none where it has no effect and promises nothing.
    pub fn fill(&self, id: OperationId, steps: &mut Few<Step<'a>>) {
        steps.clear();
        let call = call_of(self.history, id);
        if self.spec.kind.is_run() {
            return steps.push(Step { call, before: None });
        }
        if self.spec.kind == Kind::Own {
            // Its arguments are the numbers of its steps.
            let step = |(at, args): (usize, &'a i64)| {
                let call = Call { args: std::slice::from_ref(args), ..call };
                Step { call, before: at.checked_sub(1) }
            };
            return steps.extend(call.args.iter().enumerate().map(step));
        }
        let (split, status) = (self.spec.bulk != Bulk::Atomic, call.status);
        match (call.op, status) {
            (_, Status::Full) => {}
            (op, _) if op.counts_values() || op.says_count(status) => {
                let promises = self.spec.claim(&call).is_some();
                steps.extend(promises.then_some(Step { call, before: None }));
            }
            (Op::Dequeue | Op::DequeueBulk, Status::Empty) => self.empty(call, steps),
            (Op::EnqueueBulk, _) if split => self.enqueues(call, steps),
            (Op::DequeueBulk, _) if split => self.dequeues(call, steps),
            _ => steps.push(Step { call, before: None }),
        }
    }

    fn empty(&self, call: Call<'a>, steps: &mut Few<Step<'a>>) {
        if self.spec.kind != Kind::FifoPerProducer || self.spec.empty == Empty::Strong {
            steps.push(Step { call, before: None });
            return;
        }
        for queue in &self.producers {
            let call = Call { queue: Some(*queue), ..call };
            steps.push(Step { call, before: None });
        }
    }

    fn enqueues(&self, call: Call<'a>, steps: &mut Few<Step<'a>>) {
        let added = call.added();
        for (at, value) in added.iter().enumerate() {
            let before = match self.spec.kind {
                Kind::Pool => added[..at].iter().rposition(|other| other == value),
                _ => at.checked_sub(1),
            };
            let args = std::slice::from_ref(value);
            let call = Call { op: Op::Enqueue, args, results: &[], ..call };
            steps.push(Step { call, before });
        }
    }

    fn dequeues(&self, call: Call<'a>, steps: &mut Few<Step<'a>>) {
        if call.status.is_open() {
            // It may have taken any number of values, and only such as nobody else took.
            let most = (call.args[0].max(0) as usize).min(self.untaken);
            for at in 0..most {
                let call = Call { op: Op::Dequeue, args: &[], ..call };
                steps.push(Step { call, before: at.checked_sub(1) });
            }
            return;
        }
        let producer = |value: &i64| {
            let values = self.values?;
            Some(values.producer(values.get(*value)?))
        };
        for (at, value) in call.results.iter().enumerate() {
            let results = std::slice::from_ref(value);
            let before = match self.spec.kind {
                Kind::FifoPerProducer => {
                    // Equal values are taken in their order, which makes no difference.
                    let same = |other: &i64| match self.values {
                        Some(_) => producer(other) == producer(value),
                        None => other == value,
                    };
                    call.results[..at].iter().rposition(same)
                }
                Kind::Pool | Kind::FifoRelaxed => {
                    call.results[..at].iter().rposition(|other| other == value)
                }
                _ => at.checked_sub(1),
            };
            let call = Call { op: Op::Dequeue, args: &[], results, ..call };
            steps.push(Step { call, before });
        }
    }
}
