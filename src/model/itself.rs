//! The models self and class: what the structure itself, or a class beside it, answers when its
//! calls are made one at a time.
//! The state is a beginning of an order that was run (`core::sequential_runs`), so two orders lead
//! to equal states only where a class says its state. (The sequential specification of Lincheck,
//! Koval et al., CAV 2023, is the same object called by one thread.)
//!
//! A call that waits, or that says so, takes effect in several steps: one in which it is made, and
//! one for each time it goes on. These are part of the step of the call before them. A call that
//! answers that nothing was done, where it may at any time, has no step or that of any other.

use super::{Call, Expect, Expected, Model, Spec};
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::Status;
use crate::core::sequential_runs::{Beginning, ClientCall, SequentialCall, SequentialRuns};
use crate::core::words::{self, number};

/// The last calls by which a state is described that nothing says.
const CALLS_SHOWN: usize = 3;

/// A structure as its own model, of the runs that a history brings along.
pub struct Itself<'a> {
    history: &'a History,
    runs: &'a SequentialRuns,
    /// Whether an order must keep what returned before what was called; otherwise only the order of
    /// each thread.
    is_linearizable: bool,
}

/// How far a thread of the history is after a beginning.
#[derive(Clone, Copy)]
struct Progress {
    thread: u32,
    /// The call that waits, or the first that may be made.
    next: u32,
    waits: bool,
}

impl<'a> Itself<'a> {
    pub fn new(history: &'a History, spec: &Spec) -> Itself<'a> {
        static NONE: std::sync::LazyLock<SequentialRuns> =
            std::sync::LazyLock::new(SequentialRuns::default);
        let runs = history.runs.as_deref().unwrap_or(&NONE);
        Itself { history, runs, is_linearizable: spec.is_linearizable() }
    }

    /// Whether the history can end before its first return: all calls that there are wait.
    pub fn may_wait_at_once(&self) -> bool {
        self.may_end(0)
    }

    /// What may come next if this call is made, or goes on; as far as runs have it.
    fn after(
        &self,
        state: Beginning,
        id: OperationId,
    ) -> impl Iterator<Item = (Beginning, &SequentialCall)> {
        let client = self.history.threads[id.thread as usize].client;
        let call = (self.history.operation(id).op, self.history.args(id));
        let (mut choice, mut last) = (0, 0);
        std::iter::from_fn(move || {
            while choice <= last {
                let of = ClientCall { client, index: id.index, choice };
                choice += 1;
                if let Some(next) = self.runs.after(state, of, call) {
                    last = last.max(next.1.choice_last);
                    return Some(next);
                }
            }
            None
        })
    }

    /// As [`Itself::after`], where the history has this answer, or may have it.
    fn explained(&self, state: Beginning, id: OperationId) -> impl Iterator<Item = Beginning> {
        let recorded = (self.history.operation(id).status, self.history.results(id));
        let is_open = recorded.0 == Status::Pending && !self.history.waits;
        self.after(state, id).filter_map(move |(next, made)| {
            let is_same = (made.status, &made.results[..]) == recorded;
            (made.waits() || is_open && made.status != Status::Unknown || is_same).then_some(next)
        })
    }

    /// Appends what the call may answer if it is made next, or goes on; no others come between.
    fn answers(&self, state: Beginning, id: OperationId, answers: &mut Vec<Expected>) {
        for (next, made) in self.after(state, id) {
            let answer = Expected::Answer(made.status, made.results.clone());
            if made.is_step {
                self.answers(next, id, answers);
            } else if !answers.contains(&answer) {
                answers.push(answer);
            }
        }
    }

    fn progress(&self, state: Beginning) -> impl Iterator<Item = Progress> {
        let calls = self.runs.calls(state);
        (0..).zip(&self.history.threads).map(move |(thread, own)| {
            let last = calls.iter().rev().find(|call| call.client == own.client);
            let waits = last.is_some_and(|call| call.waits());
            let next = last.map_or(0, |call| call.index + u32::from(!waits));
            Progress { thread, next, waits }
        })
    }

    /// The call that waits, or must be made next; if there is one.
    fn due(&self, of: Progress) -> Option<OperationId> {
        let count = self.history.threads[of.thread as usize].operations().len() as u32;
        let mut calls = (of.next..count).map(|index| OperationId { thread: of.thread, index });
        calls.find(|id| of.waits || !self.history.is_spurious(*id))
    }

    /// Whether a call that waits after this beginning must have returned before this one is made.
    fn waits_too_long(&self, state: Beginning, call: OperationId) -> bool {
        let start = self.history.operation(call).start;
        let end = |of: Progress| self.due(of).map_or(NEVER, |id| self.history.operation(id).end);
        self.progress(state).filter(|of| of.waits).any(|of| match self.is_linearizable {
            true => end(of) < start,
            false => of.thread == call.thread,
        })
    }

    /// The calls that wait after this beginning and could go on.
    fn awake(&self, state: Beginning) -> Vec<OperationId> {
        let awake = self.runs.call(state).map_or(&[][..], |last| &last.awake);
        if awake.is_empty() {
            return Vec::new();
        }
        let client = |of: &Progress| self.history.threads[of.thread as usize].client;
        let is_awake = |of: &Progress| of.waits && awake.contains(&client(of));
        self.progress(state).filter(is_awake).filter_map(|of| self.due(of)).collect()
    }

    /// Appends this beginning, and all that come of it where calls that wait go on.
    fn go_on(&self, state: Beginning, next: &mut Vec<Beginning>) {
        for id in self.awake(state) {
            self.explained(state, id).for_each(|after| self.go_on(after, next));
        }
        if self.may_be(state) {
            next.push(state);
        }
    }

    /// Whether the history goes on after this beginning, or can end so.
    fn may_be(&self, state: Beginning) -> bool {
        !self.has_all_returns(state) || self.may_end(state)
    }

    /// Whether each call that the history has a response of was made, or did nothing.
    fn has_all_returns(&self, state: Beginning) -> bool {
        self.progress(state).all(|of| {
            // The one that waits was.
            let of = Progress { next: of.next + u32::from(of.waits), waits: false, ..of };
            self.due(of).is_none_or(|id| self.history.operation(id).end == NEVER)
        })
    }

    /// Whether the history can end so: no call with a response waits. Where those without one wait
    /// for ever, each of them can be made so that it waits and cannot go on.
    fn may_end(&self, state: Beginning) -> bool {
        let returned = |id: OperationId| self.history.operation(id).end != NEVER;
        if self.progress(state).any(|of| of.waits && self.due(of).is_some_and(returned)) {
            return false;
        }
        if !self.history.waits {
            return true;
        }
        let awake = self.awake(state);
        let unmade = self.progress(state).filter(|of| !of.waits).filter_map(|of| self.due(of));
        let mut next = awake.into_iter().chain(unmade).peekable();
        next.peek().is_none()
            || next.any(|id| self.explained(state, id).any(|after| self.may_end(after)))
    }
}

impl<'a> Model<Call<'a>> for Itself<'_> {
    type State = Beginning;

    fn init(&self) -> Beginning {
        0
    }

    fn step(&self, state: &Beginning, call: &Call<'a>, next: &mut Vec<Beginning>) {
        if self.waits_too_long(*state, call.id) {
            return;
        }
        self.explained(*state, call.id).for_each(|after| self.go_on(after, next));
        if self.history.is_spurious(call.id) && !next.contains(state) && self.may_be(*state) {
            next.push(*state);
        }
    }

    fn describe_state(&self, state: &Beginning) -> String {
        let said = |call: &&SequentialCall| {
            let made = words::call(call.op, &call.args, &number);
            match call.waits() {
                _ if call.is_step => format!("a step of {made}"),
                true => format!("{made} waits"),
                false => {
                    let answer = words::answer(call.op, call.status, &call.results, &number);
                    format!("{made} -> {answer}")
                }
            }
        };
        let calls = self.runs.calls(*state);
        let all = |calls: &[&SequentialCall]| calls.iter().map(said).collect::<Vec<_>>().join(", ");
        match calls.last() {
            None => "new".to_string(),
            Some(SequentialCall { state: Some(own), .. }) => {
                let waits = |of: &&&SequentialCall| {
                    let last = calls.iter().rfind(|call| call.client == of.client);
                    of.waits() && last == Some(*of)
                };
                let waiting: Vec<&SequentialCall> = calls.iter().filter(waits).copied().collect();
                if waiting.is_empty() { own.clone() } else { format!("{own}, {}", all(&waiting)) }
            }
            Some(_) => {
                let left_out = calls.len().saturating_sub(CALLS_SHOWN);
                let dots = if left_out == 0 { "" } else { "..., " };
                // Of several orders that lead to it, one is told.
                let is_one = self.runs.repeated().all(|other| other != *state);
                let like = if is_one { "" } else { "the same as " };
                format!("{like}after {dots}{}", all(&calls[left_out..]))
            }
        }
    }
}

impl<'a> Expect<Call<'a>> for Itself<'_> {
    fn expected(&self, state: &Beginning, call: &Call<'a>) -> Expected {
        let mut answers: Vec<Expected> = Vec::new();
        if !self.waits_too_long(*state, call.id) {
            self.answers(*state, call.id, &mut answers);
        }
        match answers.len() {
            0 => Expected::UNKNOWN,
            1 => answers.remove(0),
            _ => Expected::OneOf(answers),
        }
    }
}
