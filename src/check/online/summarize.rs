//! Summarizes the history before a checkpoint by a few calls that leave the same state, where calls
//! never rest and [`super::prune`] drops nothing. [`super::checkpoint`] finds the checkpoint.
//!
//! A few calls put into the object what it holds at the checkpoint. Each takes the place of an
//! operation that is over, at the start of its timebox, so that all of them come before the rest.

use super::checkpoint::{Checkpoint, Timed, latest};
use super::prune::{Dropped, StandIn, When, kept};
use crate::check::data::empty_answers;
use crate::check::data::small::Few;
use crate::check::data::values::Values;
use crate::check::search::steps::{Step, Steps, call_of};
use crate::check::verdict::Limits;
use crate::core::history::{History, OperationId};
use crate::core::operation::{Op, Status};
use crate::model::{
    Call, Cell, Counter, Empty, Kind, Model, OrderedSet, Relaxed, Sequence, Spec, TextCell, key,
};
use rustc_hash::FxHashMap;

/// Fewer operations of one object are left alone.
const FEW: usize = 3;

/// What may be spent for each operation, and for them all at least.
const STEPS_EACH: u64 = 1 << 10;
const STEPS_MIN: u64 = 1 << 12;

/// A call and its arguments.
type Put = (Op, Vec<i64>);

struct Summary<'a> {
    history: &'a History,
    spec: &'a Spec,
    /// Of queues and deques; none where some value was added twice.
    values: Option<&'a Values>,
    settled: u64,
    limits: Limits,
    dropped: Dropped,
}

/// By the [contract](super) of every prune.
pub fn summarize(history: &History, spec: &Spec, settled: u64, limits: &Limits) -> Option<History> {
    let steps_max = limits.steps_max.min(STEPS_MIN + STEPS_EACH * history.len() as u64);
    let limits = Limits { steps_max, ..limits.clone() };
    let is_line = matches!(spec.kind, Kind::Deque | Kind::FifoRelaxed);
    let values = if is_line { Values::from_history(history).ok() } else { None };
    let (values, dropped) = (values.as_ref(), Dropped::new(history));
    let mut task = Summary { history, spec, values, settled, limits, dropped };
    match spec.kind {
        Kind::Set | Kind::Map | Kind::Register | Kind::Kv => task.keys(),
        Kind::Counter => {
            task.all(&Counter, |sum| match sum {
                0 => Vec::new(),
                sum => vec![(Op::CounterAdd, vec![*sum])],
            });
        }
        Kind::RangeSet => {
            task.all(&OrderedSet, |keys| keys.iter().map(|k| (Op::SetInsert, vec![*k])).collect())
        }
        Kind::Deque if spec.is_relaxed() => {
            task.container(&Relaxed { k: spec.k as usize }, Op::DequePush)
        }
        Kind::Deque => task.container(&Sequence, Op::DequePush),
        Kind::FifoRelaxed => task.container(&Relaxed { k: spec.k as usize }, Op::Enqueue),
        _ => return None,
    }
    let rest = kept(history, &task.dropped).0;
    (rest.len() < history.len()).then_some(rest)
}

impl<'a> Summary<'a> {
    fn keys(&mut self) {
        let mut parts: FxHashMap<i64, Vec<OperationId>> = FxHashMap::default();
        for id in self.history.ids() {
            let call = call_of(self.history, id);
            parts.entry(key(call.op, call.args)).or_default().push(id);
        }
        let initial = (self.spec.kind == Kind::Register).then_some(0);
        let kind = self.spec.kind;
        for (key, part) in parts {
            if kind == Kind::Kv {
                self.part(part, &TextCell, |text| {
                    let put = |characters: &[i64]| (Op::KvPut, [&[key], characters].concat());
                    text.iter().map(|text| put(text.characters())).collect()
                });
                continue;
            }
            self.part(part, &Cell { initial }, |held| {
                let put = |held: i64| match kind {
                    Kind::Set => (Op::SetInsert, vec![key]),
                    Kind::Map => (Op::MapPut, vec![key, held]),
                    _ => (Op::RegisterWrite, vec![held]),
                };
                held.iter().filter(|_| *held != initial).map(|held| put(*held)).collect()
            });
        }
    }

    fn all<M: Model<Call<'a>>>(&mut self, model: &M, holds: impl Fn(&M::State) -> Vec<Put>) {
        self.part(self.history.ids().collect(), model, holds);
    }

    /// Operations of an object that each happen at one instant.
    fn part<M: Model<Call<'a>>>(
        &mut self,
        part: Vec<OperationId>,
        model: &M,
        holds: impl Fn(&M::State) -> Vec<Put>,
    ) {
        if part.len() <= FEW {
            return;
        }
        let is_mute = |id: &OperationId| {
            let operation = self.history.operation(*id);
            operation.status.is_open() && operation.op.only_reads()
        };
        let (mute, part): (Vec<_>, Vec<_>) = part.into_iter().partition(is_mute);
        let timed = |id: &OperationId| {
            let step = Step { call: call_of(self.history, *id), before: None };
            self.timed(*id, [step].into_iter().collect())
        };
        let operations: Vec<Timed> = part.iter().map(timed).collect();
        // Of a read without an answer nothing will ever be known.
        mute.into_iter().for_each(|id| self.dropped.set(id, true));
        self.replace(&operations, model, |_| true, holds);
    }

    fn timed(&self, id: OperationId, steps: Few<Step<'a>>) -> Timed<'a> {
        let operation = self.history.operation(id);
        Timed { id, start: operation.start, end: operation.end, steps }
    }

    /// Replaces the beginning of `operations` at a checkpoint, if that drops any; returns the
    /// checkpoint. The stand-ins take the places of operations that `able` says yes to.
    fn replace<M: Model<Call<'a>>>(
        &mut self,
        operations: &[Timed<'a>],
        model: &M,
        able: impl Fn(OperationId) -> bool,
        holds: impl Fn(&M::State) -> Vec<Put>,
    ) -> Option<Checkpoint<M::State>> {
        let mut starts: Vec<(u64, OperationId)> =
            operations.iter().map(|o| (o.start, o.id)).filter(|(_, id)| able(*id)).collect();
        starts.sort_unstable();
        // Each at a time of its own.
        starts.dedup_by_key(|(start, _)| *start);
        let before = |next: u64| starts.partition_point(|(start, _)| *start < next);
        let suits = |left: &Checkpoint<M::State>| holds(&left.state).len() <= before(left.next);
        let left = latest(operations, model, self.settled, &self.limits, suits)?;
        let puts = holds(&left.state);
        for (at, operation) in operations.iter().enumerate() {
            if operation.start <= left.last && !left.waiting.contains(&at) {
                self.dropped.set(operation.id, true);
            }
        }
        let free = &starts[before(left.next) - puts.len()..];
        for ((op, args), (_, id)) in puts.into_iter().zip(free) {
            self.dropped.set(*id, false);
            self.dropped.stand_ins.insert(*id, StandIn { op, args, when: When::AtItsStart });
        }
        Some(left)
    }

    /// A queue or a deque.
    fn container<M: Model<Call<'a>>>(&mut self, model: &M, op: Op)
    where
        M::State: Clone + IntoIterator<Item = i64>,
    {
        let (history, spec) = (self.history, self.spec);
        let is_open = |id: OperationId| {
            let operation = history.operation(id);
            operation.status.is_open() && operation.op.removes()
        };
        // What overlaps an "empty" answer may excuse it, and nothing can take its place in a deque.
        let is_excusable = spec.empty == Empty::Lone;
        if history.ids().any(is_open) || is_excusable && spec.kind == Kind::Deque {
            return;
        }
        let Some(values) = self.values else { return };
        let steps = Steps::new(history, spec, Some(values));
        let not_promised = empty_answers::not_promised(history, spec);
        let mut operations: Vec<Timed> = Vec::new();
        for id in history.ids().filter(|id| !not_promised.contains(id)) {
            let mut parts = Few::new();
            steps.fill(id, &mut parts);
            if !parts.is_empty() {
                operations.push(self.timed(id, parts));
            }
        }
        let adds = |id: OperationId| history.operation(id).op.adds();
        let holds = |line: &M::State| line.clone().into_iter().map(|v| (op, vec![v])).collect();
        let Some(Checkpoint { last, .. }) = self.replace(&operations, model, adds, holds) else {
            return;
        };
        for id in history.ids() {
            let operation = history.operation(id);
            if operation.op.adds() {
                let goes = self.dropped.is_dropped(id) || operation.status == Status::Full;
                self.dropped.set(id, goes);
                continue;
            }
            let goes =
                self.dropped.is_dropped(id) || operation.end <= last || not_promised.contains(&id);
            if !goes || operation.start > last {
                continue;
            }
            self.dropped.set(id, true);
            if is_excusable && operation.end > last {
                self.dropped.set(id, false);
                let nothing = StandIn { op: Op::DequeueBulk, args: vec![0], when: When::Within };
                self.dropped.stand_ins.insert(id, nothing);
            }
        }
    }
}
