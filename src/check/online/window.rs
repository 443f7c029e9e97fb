//! Checks a history while it happens: takes invocations and responses in the order of time and
//! finds the first response after which no order explains what was seen.
//!
//! The window holds every operation that is not explained for good, and for the rest a few that
//! leave the same state. It is judged by the same checkers as a whole history. Calls under way may
//! have taken effect, or not.

use std::borrow::Cow;

use super::prune::prune;
use super::{prune_log, prune_stack, prune_stream, summarize};
use crate::check::data::prefix::until;
use crate::check::data::scope::is_stream;
use crate::check::decide::check;
use crate::check::exact::sizes::any_count;
use crate::check::transactions;
use crate::check::undecided::{Exhausted, Undecided};
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{Entry, History, Misfit, NEVER, Thread};
use crate::core::operation::{Op, Status};
use crate::model::{Kind, Spec};

/// What an operation takes in the window, at the least.
const OPERATION_BYTES: usize = 2 * size_of::<crate::core::history::Operation>();

/// Steps of a general search for the response at which a violation began. A prefix of a long
/// history may need that search where the whole did not, because it is open what a removal under
/// way takes; where the steps do not suffice, the violation is reported at a later response.
const EARLIER_STEPS_MAX: u64 = 20_000;

/// Threads of which some may be idle.
const IDLE_MAX: usize = 64;

/// A window of fewer operations is not summarized.
const SEARCHED_MIN: usize = 6;

/// A call under way.
struct OpenCall {
    /// Of the window.
    thread: usize,
    client: u32,
    op: Op,
    args: Vec<i64>,
    start: u64,
}

/// No order explains what was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineViolation {
    /// Its operations are those of `history`.
    pub witness: Witness,
    /// The end of what was seen, up to the return that no order explains, with the calls under way
    /// pending. Operations explained for good are left out, or replaced by a few others.
    pub history: History,
    /// When that return came.
    pub time: u64,
    /// Calls that had returned by then.
    pub returned: u64,
}

/// Checks a run while it goes on.
///
/// ```
/// use interlap::check::{Limits, Online};
/// use interlap::core::operation::{Op, Status};
///
/// let mut online = Online::new("fifo".parse().unwrap(), Limits::default());
/// online.call(1, Op::Enqueue, &[7], 10).unwrap(); // client, operation, arguments, time
/// online.call(2, Op::Dequeue, &[], 11).unwrap();
/// assert_eq!(online.answer(2, Status::Ok, &[7], 12).unwrap(), None); // 7 may be in already
/// online.call(2, Op::Dequeue, &[], 13).unwrap();
/// let found = online.answer(2, Status::Ok, &[7], 14).unwrap().unwrap(); // but not twice
/// assert_eq!((found.witness.rule, found.returned), ("taken-twice", 2));
/// ```
pub struct Online {
    spec: Spec,
    limits: Limits,
    /// Responses between two checks.
    stride: usize,
    /// What has responded and is not pruned.
    window: History,
    open: Vec<OpenCall>,
    now: u64,
    returned: u64,
    /// Calls that had returned at the last look after which an order explained them all.
    explained: u64,
    /// When those calls returned that came after the last look, in any order.
    unchecked: Vec<u64>,
    /// Operations that the last look left.
    held: usize,
    held_max: usize,
    /// Operations that the last summary left.
    summarized: usize,
    /// Of transactions with timestamps: what reads at an earlier one cannot be judged any more.
    floor: i64,
    found: Option<OnlineViolation>,
    /// Why nothing is judged any more, if so.
    given_up: Option<Undecided>,
}

impl Online {
    /// Checks after every response, and so reports a violation at the first response after which
    /// nothing that may come explains the history. `limits` are those of each check; one that
    /// reaches them leaves the matter to later checks, when more answers are known.
    pub fn new(spec: Spec, limits: Limits) -> Online {
        Online {
            spec,
            limits,
            stride: 1,
            window: History::default(),
            open: Vec::new(),
            now: 0,
            returned: 0,
            explained: 0,
            unchecked: Vec::new(),
            held: 0,
            held_max: 0,
            summarized: 0,
            floor: i64::MIN,
            found: None,
            given_up: (!spec.is_linearizable() || spec.kind == Kind::Own)
                .then_some(Undecided::NotOnline),
        }
    }

    /// Checks after so many responses at the earliest, and not before there are as many as
    /// operations are held: all checks together then take little longer than one at the end.
    /// Violations are the same, found later; they may be reported at a later response, too, where
    /// it takes long to search for the first.
    pub fn every(mut self, returns: usize) -> Online {
        self.stride = returns.max(1);
        self
    }

    /// Looks only when asked to, by [`Online::look_at_rest`].
    pub fn at_rest(self) -> Online {
        self.every(usize::MAX)
    }

    /// Looks now, which is best where no call is under way: most can be forgotten then. Leaves it
    /// to a later time while there is less to see than is held, as where little can be forgotten.
    pub fn look_at_rest(&mut self) -> Option<&OnlineViolation> {
        let due = self.unchecked.len() >= self.held.max(1);
        if due && self.found.is_none() && self.given_up.is_none() {
            self.look();
        }
        self.found.as_ref()
    }

    /// A call begins. Says why where it cannot be, as where `time` lies before what was seen.
    pub fn call(&mut self, client: u32, op: Op, args: &[i64], time: u64) -> Result<(), Misfit> {
        self.advance(time)?;
        op.validate(args, Status::Pending, &[]).map_err(Misfit::Shape)?;
        if !self.spec.accepts(op) {
            let (model, op) = (self.spec.kind.name(), op.name());
            return Err(Misfit::Shape(format!("model {model} does not explain {op}")));
        }
        if self.open.iter().any(|open| open.client == client) {
            let text = format!("client {client} calls before its last call has returned");
            return Err(Misfit::Order(text));
        }
        let live = |thread: &Thread| thread.client == client && !thread.is_retired();
        let thread = self.window.threads.iter().rposition(live).unwrap_or_else(|| {
            self.window.threads.push(Thread::new(client));
            self.window.threads.len() - 1
        });
        if self.window.threads[thread].operations().last().is_some_and(|last| last.end >= time) {
            let text = format!("client {client} calls at {time}, when its last call returned");
            return Err(Misfit::Order(text));
        }
        self.open.push(OpenCall { thread, client, op, args: args.to_vec(), start: time });
        Ok(())
    }

    /// The call of `client` returns; [`Status::Unknown`] where what became of it is not known.
    /// Tells what was found, once something is.
    pub fn answer(
        &mut self,
        client: u32,
        status: Status,
        results: &[i64],
        time: u64,
    ) -> Result<Option<&OnlineViolation>, Misfit> {
        self.advance(time)?;
        let Some(at) = self.open.iter().position(|open| open.client == client) else {
            return Err(Misfit::Order(format!("client {client} returns from no call")));
        };
        let OpenCall { thread, op, start, .. } = self.open[at];
        let args = &self.open[at].args;
        let entry = Entry { op, status, start, end: time, args, results };
        self.window.threads[thread].push(entry)?;
        self.open.swap_remove(at);
        self.returned += 1;
        self.unchecked.push(time);
        if self.found.is_some() || self.given_up.is_some() {
            self.window = History::default();
            self.reopen_threads();
        } else if self.unchecked.len() >= self.next_look() {
            self.look();
        }
        Ok(self.found.as_ref())
    }

    /// Takes a part of the history that is quiescent at both ends, every call with its answer. Does
    /// what [`Online::call`] and [`Online::answer`] would one by one, but violations are reported
    /// by [`Online::look_at_rest`].
    pub fn append(&mut self, history: History) -> Result<(), Misfit> {
        let operations = || history.threads.iter().flat_map(|thread| thread.operations());
        if !self.open.is_empty() || operations().any(|operation| operation.end == NEVER) {
            return Err(Misfit::Order("a call is under way".to_string()));
        }
        if let Some(operation) = operations().find(|operation| !self.spec.accepts(operation.op)) {
            let (model, op) = (self.spec.kind.name(), operation.op.name());
            return Err(Misfit::Shape(format!("model {model} does not explain {op}")));
        }
        if let Some(first) = operations().map(|operation| operation.start).min() {
            self.advance(first)?;
        }
        self.now = operations().map(|operation| operation.end).max().unwrap_or(self.now);
        self.returned += history.len() as u64;
        self.unchecked.extend(operations().map(|operation| operation.end));
        if self.found.is_some() || self.given_up.is_some() {
            return Ok(());
        }
        self.window.append(history)
    }

    /// Calls that had returned when the first return came that no order explains; all that returned
    /// so far where none did.
    pub fn returned(&self) -> u64 {
        self.found.as_ref().map_or(self.returned, |found| found.returned)
    }

    /// Calls that had returned at the last look after which an order explained all of them.
    pub fn explained(&self) -> u64 {
        self.explained
    }

    /// Operations that are held now, and the most that ever were.
    pub fn held(&self) -> (usize, usize) {
        (self.window.len(), self.held_max.max(self.window.len()))
    }

    /// No more will come: the verdict on all that did. The witness of a violation is one of the
    /// history that comes with it. `drained` as of a [`History`].
    pub fn finish(mut self, drained: bool) -> (Verdict, History) {
        if let Some(why) = self.given_up {
            return (Verdict::Inconclusive(why), History::default());
        }
        if self.found.is_none() && !self.unchecked.is_empty() {
            self.look();
        }
        if let Some(found) = self.found {
            return (Verdict::Violation(found.witness), found.history);
        }
        if let Some(why) = self.given_up.take().or_else(|| self.unknown_past()) {
            return (Verdict::Inconclusive(why), History::default());
        }
        let mut all = self.known(|_| true).into_owned();
        all.drained = drained;
        (check(&all, &self.spec, &self.limits), all)
    }

    fn advance(&mut self, time: u64) -> Result<(), Misfit> {
        if time < self.now || time == NEVER {
            let text = format!("an event at {time} after one at {}", self.now);
            return Err(Misfit::Order(text));
        }
        self.now = time;
        Ok(())
    }

    fn next_look(&self) -> usize {
        if self.stride == 1 { 1 } else { self.stride.max(self.held) }
    }

    /// Without a window the calls under way have no threads in it.
    fn reopen_threads(&mut self) {
        for open in &mut self.open {
            self.window.threads.push(Thread::new(open.client));
            open.thread = self.window.threads.len() - 1;
        }
    }

    /// The window with those calls under way that `which` wants.
    fn known(&self, which: impl Fn(Op) -> bool) -> Cow<'_, History> {
        let all = self.window.threads.iter().enumerate();
        let is_held = |(at, thread): (usize, &Thread)| {
            !thread.operations().is_empty() || self.open.iter().any(|open| open.thread == at)
        };
        let held: Vec<bool> = all.map(is_held).collect();
        if self.open.is_empty() && held.iter().all(|held| *held) {
            return Cow::Borrowed(&self.window);
        }
        let mut known = self.window.clone();
        for OpenCall { thread, op, args, start, .. } in &self.open {
            if which(*op) {
                let status = Status::Pending;
                let entry =
                    Entry { op: *op, status, start: *start, end: NEVER, args, results: &[] };
                known.threads[*thread].push(entry).expect("its time was checked at the call");
            }
        }
        // A trace has no such threads: what a witness names is found in it.
        let mut held = held.into_iter();
        known.threads.retain(|_| held.next().unwrap_or(true));
        Cow::Owned(known)
    }

    fn is_of_transactions(&self) -> bool {
        matches!(self.spec.kind, Kind::Snapshot | Kind::Serializable)
    }

    /// The verdict on the operations so far: a violation stays one, whatever comes later.
    fn judged(&self, history: &History, limits: &Limits) -> Verdict {
        match self.is_of_transactions() {
            true => transactions::check_so_far(history, &self.spec, limits),
            false => check(history, &self.spec, limits),
        }
    }

    fn unknown_past(&self) -> Option<Undecided> {
        let floor = Some(self.floor).filter(|floor| *floor > i64::MIN)?;
        transactions::unknown_past(&self.window, floor)
    }

    /// Judges what is known. What is explained without the removals under way stays explained
    /// whatever these take, so that it may be pruned.
    fn look(&mut self) {
        self.held_max = self.held_max.max(self.window.len());
        let late = self.limits.is_late().then(|| Exhausted::Deadline.into());
        self.given_up = self.unknown_past().or(late);
        if self.given_up.is_none() {
            self.judge();
        }
        if self.given_up.is_none()
            && self.window.len().saturating_mul(OPERATION_BYTES) > self.limits.memory_max
        {
            self.given_up = Some(Undecided::Held(self.limits.memory_max));
        }
    }

    fn judge(&mut self) {
        let without = self.judged(self.known(|op| !op.removes()).as_ref(), &self.limits);
        if without == Verdict::Consistent {
            self.explained = self.returned;
            self.prune();
            self.drop_idle_threads();
        } else if let Verdict::Violation(witness) =
            self.judged(self.known(|_| true).as_ref(), &self.limits)
        {
            self.unchecked.sort_unstable();
            self.found = Some(self.earliest(witness));
        }
        self.unchecked.clear();
        self.held = self.window.len();
    }

    fn prune(&mut self) {
        // What was called when the last return came overlaps it.
        let calls = self.open.iter().map(|open| open.start);
        let settled = calls.min().unwrap_or(self.now).min(self.now);
        if is_stream(&self.window, &self.spec) {
            if let Some(rest) = prune_stream::prune(&self.window, settled, &self.limits) {
                self.window = rest;
            }
            return;
        }
        if !self.is_of_transactions() {
            self.window = prune(&self.window, &self.spec, settled).0;
            self.prune_busy(settled);
            return;
        }
        let kind = self.spec.kind;
        if let Some(rest) = transactions::prune(&self.window, kind, settled, &self.limits) {
            self.floor = self.floor.max(rest.floor);
            self.window = rest.history;
        }
    }

    /// Whether some call says how many values are inside, or may when it returns.
    fn may_count(&self) -> bool {
        let may = |op: Op| op.counts_values() || op == Op::DequeueBulk;
        any_count(&self.window) || self.open.iter().any(|open| may(open.op))
    }

    /// Prunes where the history is never quiescent. The search for a checkpoint is made when the
    /// window holds much more than the last one left.
    fn prune_busy(&mut self, settled: u64) {
        let (window, spec) = (&self.window, &self.spec);
        let rest = match spec.kind {
            // What overlaps a call that counts must stay.
            kind if kind.is_container() && self.may_count() => None,
            Kind::Lifo if !spec.is_relaxed() => prune_stack::prune(window, spec, settled),
            Kind::Log => prune_log::prune(window, settled),
            _ if window.len() < 2 * self.summarized + SEARCHED_MIN => None,
            _ => {
                let rest = summarize::summarize(window, spec, settled, &self.limits);
                self.summarized = rest.as_ref().map_or(window.len(), History::len);
                rest
            }
        };
        self.window = rest.unwrap_or_else(|| std::mem::take(&mut self.window));
    }

    /// A client goes on as another thread after a call of unknown outcome: of threads of which
    /// nothing is held there may be ever more.
    fn drop_idle_threads(&mut self) {
        if self.window.threads.len() <= IDLE_MAX {
            return;
        }
        let threads = std::mem::take(&mut self.window.threads);
        for (at, thread) in threads.into_iter().enumerate() {
            let to = self.window.threads.len();
            let mut is_held = !thread.operations().is_empty();
            for open in self.open.iter_mut().filter(|open| open.thread == at) {
                (open.thread, is_held) = (to, true);
            }
            if is_held {
                self.window.threads.push(thread);
            }
        }
    }

    /// The violation at the earliest return since the last look, by bisection; `whole`, the witness
    /// of all that is known, where no earlier one is decided.
    fn earliest(&self, whole: Witness) -> OnlineViolation {
        let all = self.known(|_| true);
        let steps_max = self.limits.steps_max.min(EARLIER_STEPS_MAX);
        let limits = Limits { steps_max, ..self.limits.clone() };
        let judged = |at: usize| {
            let mut history = until(&all, self.unchecked[at]);
            history.threads.retain(|thread| !thread.operations().is_empty());
            (self.judged(&history, &limits), history)
        };
        let (mut good, mut bad) = (0, self.unchecked.len() - 1);
        while good < bad {
            let middle = (good + bad) / 2;
            match judged(middle).0 {
                Verdict::Violation(_) => bad = middle,
                _ => good = middle + 1,
            }
        }
        let time = self.unchecked[bad];
        let later = self.unchecked.iter().filter(|other| **other > time).count();
        let returned = self.returned - later as u64;
        if let (Verdict::Violation(witness), history) = judged(bad) {
            return OnlineViolation { witness, history, time, returned };
        }
        // A call that was made since makes it so.
        OnlineViolation { witness: whole, history: all.into_owned(), time: self.now, returned }
    }
}
