//! Chooses the operations of a finding that its report shows.

use super::{Failure, Stored};
use crate::check::Missing;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::{Family, Op, Status};
use crate::core::plan::Engine;
use crate::model::Spec;
use crate::process::rr::locate::Timebox;
use crate::trace::trail::is_new_memory;
use crate::view::timeline::{SHOWN_MAX, SHOWN_WHOLE};

/// Of a fault, a report shows this many of each thread's last operations.
const LAST_OPERATIONS: usize = 3;

impl Stored {
    /// The operations that the report shows, in the order of their letters:
    /// - of a recording, only the involved ones and those that cannot be explained;
    /// - of a small round, all;
    /// - of a violation by one call at a time, also the calls before;
    /// - else the involved ones, and those that made the answer of a single one wrong.
    pub fn shown(&self) -> Vec<OperationId> {
        let history = &self.round.history;
        match self.finding.plan.engine {
            Engine::Rr => self.in_order([self.unexplained(), self.involved()].concat()),
            _ if history.len() <= SHOWN_WHOLE => {
                let informs = |id: &OperationId| !self.is_uninformative(*id);
                self.in_order(history.ids().filter(informs).collect())
            }
            _ if self.is_violated_alone() => self.until_violation(),
            _ => self.with_longest_partial(),
        }
    }

    /// Whether the drain found nothing at a key that no thread used.
    pub fn is_uninformative(&self, id: OperationId) -> bool {
        let (history, operation) = (&self.round.history, self.round.history.operation(id));
        let is_read = matches!(operation.op, Op::MapGet | Op::SetContains | Op::KvGet);
        let is_empty = match operation.op {
            Op::KvGet => operation.status == Status::Ok && history.results(id).is_empty(),
            _ => operation.status == Status::Failed,
        };
        let of_drain = |id: OperationId| {
            history.threads[id.thread as usize].client >= self.round.start.threads
        };
        let key = history.args(id).first();
        let is_used = || history.ids().any(|id| !of_drain(id) && history.args(id).first() == key);
        let is_idle = is_read && is_empty && of_drain(id);
        is_idle && !self.involved().contains(&id) && !is_used()
    }

    /// The values that calls answered from memory of the heap that nobody had written, as far as is
    /// known: the controlled engine fills it.
    pub fn uninitialised(&self) -> Vec<i64> {
        let history = &self.round.history;
        let is_given = |value: i64| history.ids().any(|id| history.args(id).contains(&value));
        let is_filling = |value: &i64| {
            let is_four_bytes = u32::try_from(*value).is_ok() || i32::try_from(*value).is_ok();
            is_new_memory(*value as u64, if is_four_bytes { 4 } else { 8 })
        };
        let answers = history.ids().flat_map(|id| history.results(id).iter().copied());
        let mut values: Vec<i64> = match self.finding.plan.engine {
            Engine::Controlled => answers.filter(is_filling).filter(|it| !is_given(*it)).collect(),
            Engine::Native | Engine::Rr => Vec::new(),
        };
        values.sort_unstable();
        values.dedup();
        values
    }

    /// What a removal should have returned besides.
    pub fn missing(&self) -> Option<Missing> {
        match &self.finding.what {
            Failure::Violation { explanation, .. } => explanation.missing(&self.round.history),
            Failure::Fault { .. } => None,
        }
    }

    /// The involved operations. If that is a single one, its longest partial linearization comes
    /// with it, if that is short, or of methods what came before: the operation alone looks like
    /// any other.
    fn with_longest_partial(&self) -> Vec<OperationId> {
        let involved = self.involved();
        let Failure::Violation { partials: Some(partials), .. } = &self.finding.what else {
            return involved;
        };
        let longest = partials.partials.first().filter(|_| involved.len() == 1);
        let steps = longest.iter().flat_map(|longest| longest.steps.iter());
        let all: Vec<_> =
            steps.map(|step| step.operation).chain(involved.iter().copied()).collect();
        let model = self.finding.model.parse();
        let is_of_methods = model.is_ok_and(|of: Spec| of.kind.family() == Family::Custom);
        match all.len() {
            ..=SHOWN_WHOLE => self.in_order(all),
            // Any call before it may have made the answer wrong.
            _ if is_of_methods && involved.len() == 1 => self.until_violation(),
            _ => involved,
        }
    }

    /// Whether it is a violation although only one call ran at a time.
    fn is_violated_alone(&self) -> bool {
        self.round.start.sequential && matches!(self.finding.what, Failure::Violation { .. })
    }

    /// The involved operations, with the earlier calls that had an effect: one of these made the
    /// answer wrong.
    fn until_violation(&self) -> Vec<OperationId> {
        let (history, involved) = (&self.round.history, self.involved());
        let start = |id: &OperationId| history.operation(*id).start;
        let last = involved.iter().map(start).max().unwrap_or(0);
        let until = history.ids().filter(|id| start(id) <= last);
        let until = until.filter(|id| history.is_done(*id) || involved.contains(id)).collect();
        let until = self.in_order(until);
        let shown = until.len().min(SHOWN_WHOLE.max(involved.len()));
        until[until.len() - shown..].to_vec()
    }

    /// The witness of a violation; of a fault, the last operations of each thread.
    pub fn involved(&self) -> Vec<OperationId> {
        self.in_order(match &self.finding.what {
            Failure::Violation { operations, .. } => operations.clone(),
            Failure::Fault { .. } => last_operations(&self.round.history),
        })
    }

    /// The operations that the longest partial linearization cannot go on with.
    fn unexplained(&self) -> Vec<OperationId> {
        let Failure::Violation { partials: Some(partials), .. } = &self.finding.what else {
            return Vec::new();
        };
        let longest = partials.partials.first().map_or(&[][..], |longest| &longest.stuck);
        [&[partials.failed, partials.last], longest].concat()
    }

    /// If there are more than letters, those that cannot be explained stay, and the last others.
    fn in_order(&self, mut operations: Vec<OperationId>) -> Vec<OperationId> {
        operations.sort_by_key(|id| (self.round.history.operation(*id).start, *id));
        operations.dedup();
        let mut surplus = operations.len().saturating_sub(SHOWN_MAX);
        let unexplained = self.unexplained();
        operations.retain(|id| {
            let is_kept = surplus == 0 || unexplained.contains(id);
            surplus -= usize::from(!is_kept);
            is_kept
        });
        operations.split_off(operations.len().saturating_sub(SHOWN_MAX))
    }

    /// The timeboxes of the operations that the report shows.
    pub fn boxes(&self) -> Vec<Timebox> {
        let history = &self.round.history;
        let boxed = |id: OperationId| {
            let operation = history.operation(id);
            let end = (operation.end != NEVER).then_some(operation.end);
            Timebox { start: operation.start, end }
        };
        self.shown().into_iter().map(boxed).collect()
    }
}

fn last_operations(history: &History) -> Vec<OperationId> {
    let each = history.threads.iter().enumerate().flat_map(|(thread, t)| {
        let len = t.operations().len();
        (len.saturating_sub(LAST_OPERATIONS)..len)
            .map(move |index| OperationId { thread: thread as u32, index: index as u32 })
    });
    each.collect()
}
