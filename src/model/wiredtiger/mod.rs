//! WiredTiger's transactions as a sequential object: snapshots, timestamps, prepared transactions,
//! several tables. Written after what 3.2.1 does, which is more than its documentation says.
//!
//! What several steps do is what others can tell apart: that a timestamp was looked at, and that
//! what a transaction changed is seen; and of a prepared transaction, and of one that is rolled
//! back, each key by itself. `targets/specifications/WiredTiger.tla` says the same.
//!
//! - `call`: A call of WiredTiger's API and its answer, as JSON has them, and the part of it that a
//!   step is.
//! - `ends`: How transactions end: committed, prepared, or rolled back.
//! - `look`: How a snapshot is taken, and what it may have.
//! - `reads`: What calls on keys and ranges of a table do.
//! - `shared`: Parts of a store that many stores have in common, and small sets of sessions: a
//!   store is copied for each step of a search, and what a step leaves as it is is not.
//! - `shown`: A store as people read it: its timestamps, the updates of each key, and who runs.
//! - `store`: What a WiredTiger database holds, and what its transactions see of that.
//! - `waits`: Which steps may come at once, and which may wait: those that change nothing for
//!   others.

mod call;
mod ends;
mod look;
mod reads;
mod shared;
mod shown;
mod store;
mod waits;

use std::collections::{BTreeSet, HashMap};

use crate::core::contract::Model;
use crate::core::recorder::Answered;
use crate::tla::Problem;

pub use call::{Answer, Call};
use call::{Method, Part};
use look::Look;
pub use store::Store;
use store::{Client, Session, Stage};

/// WiredTiger's codes.
const OK: i64 = 0;
const EINVAL: i64 = 22;
const ROLLBACK: i64 = -31800;
const DUPLICATE_KEY: i64 = -31801;
const NOTFOUND: i64 = -31803;
const PREPARE_CONFLICT: i64 = -31808;
const CODES: [(i64, &str); 6] = [
    (OK, "0"),
    (EINVAL, "EINVAL"),
    (ROLLBACK, "WT_ROLLBACK"),
    (DUPLICATE_KEY, "WT_DUPLICATE_KEY"),
    (NOTFOUND, "WT_NOTFOUND"),
    (PREPARE_CONFLICT, "WT_PREPARE_CONFLICT"),
];

type Made = Answered<Call, Answer>;

/// The model that is named `wiredtiger`.
pub struct WiredTiger;

impl Model<Made> for WiredTiger {
    type State = Store;

    fn init(&self) -> Store {
        Store::default()
    }

    fn init_for(&self, operations: &mut dyn Iterator<Item = &Made>) -> Store {
        if let Some(call) = outside(operations) {
            let text = &call.text;
            stop(format!("{text} outside of a transaction, which the model wiredtiger has not"));
        }
        self.init()
    }

    fn split(&self, made: &Made, steps: &mut Vec<Made>) {
        if made.call.has_steps() {
            steps.extend([Part::Step, Part::Done].map(|part| {
                let call = Call { part, ..made.call.clone() };
                Answered { call, answer: made.answer }
            }));
        }
    }

    fn repeats(&self, step: &Made) -> bool {
        step.call.part == Part::Step
    }

    /// Many writes have one value, and a key is no value.
    fn values_tell_order(&self) -> bool {
        false
    }

    fn at_once(&self, store: &Store, step: &Made) -> bool {
        waits::at_once(store, step)
    }

    fn may_wait(&self, store: &Store, due: &[&Made], open: &[&Made], waits: &mut [bool]) {
        let rolls_back = |step: &&Made| step.call.method == Method::RollBackToStable;
        if due.is_empty() || due.iter().chain(open).any(rolls_back) {
            return;
        }
        for (waits, step) in waits.iter_mut().zip(open) {
            *waits = waits::may_wait(store, step);
        }
    }

    fn reads(&self, step: &Made) -> bool {
        matches!(step.call.method, Method::Search(_) | Method::Reset)
            && step.call.part != Part::Step
    }

    fn step(&self, store: &Store, made: &Made, next: &mut Vec<Store>) {
        let Some(answer) = made.answer else {
            // It would be one with any timestamp.
            stop(format!("{} never returned: what it did is not known", made.call.text));
        };
        next.extend(Step::new(store, &made.call, answer).made());
    }

    fn right_answer(&self, store: &Store, made: &Made) -> Option<String> {
        let answer = made.answer?;
        let found = match made.call.method {
            Method::Search(key) => store.values(key),
            _ => BTreeSet::new(),
        };
        let found = found.into_iter().map(|value| (value, value.to_string()));
        let codes = CODES.iter().map(|(code, name)| (*code, name.to_string()));
        // Of a call in steps, the last says what is answered.
        let last = if made.call.has_steps() { Part::Done } else { Part::Whole };
        let call = Call { part: last, ..made.call.clone() };
        let possible = found.chain(codes).filter(|(code, _)| {
            let given = Answer { code: *code, ..answer };
            !Step::new(store, &call, given).made().is_empty()
        });
        let all: Vec<String> = possible.map(|(_, name)| name).collect();
        (!all.is_empty()).then(|| all.join(" or "))
    }

    fn describe(&self, made: &Made) -> String {
        let call = &made.call.text;
        let Some(Answer { code, at, durable }) = made.answer else { return call.clone() };
        let named = CODES.iter().find(|(known, _)| *known == code);
        let code = match (named, made.call.method) {
            (_, Method::Search(_)) if code >= 0 => code.to_string(),
            (Some((_, name)), _) => name.to_string(),
            (None, _) => code.to_string(),
        };
        match (at, durable) {
            (0, _) => format!("{call} -> {code}"),
            (at, 0) => format!("{call} -> {code} at {at}"),
            (at, durable) => format!("{call} -> {code} at {at}, durable at {durable}"),
        }
    }

    fn describe_state(&self, store: &Store) -> String {
        store.to_string()
    }

    fn weight(&self, store: &Store) -> usize {
        store.weight()
    }
}

/// The check ends undecided.
fn stop(why: String) -> ! {
    std::panic::panic_any(Problem::new(why))
}

/// The first call that certainly commits by itself: such are no misuse, and not modelled.
fn outside<'m>(operations: &mut dyn Iterator<Item = &'m Made>) -> Option<&'m Call> {
    // Whether a transaction is open, where its calls say so.
    let mut open = HashMap::<Session, Option<bool>>::new();
    for Answered { call, answer } in operations {
        let is_open = open.entry(call.session).or_insert(Some(false));
        let code = answer.map(|answer| answer.code);
        match call.method {
            Method::Begin { .. } | Method::BeginAt if code == Some(OK) => *is_open = Some(true),
            Method::Begin { .. } | Method::BeginAt if code.is_none() => *is_open = None,
            Method::Commit | Method::CommitAt | Method::CommitPrepared | Method::RollBack => {
                *is_open = match (*is_open, code) {
                    (_, Some(OK)) | (Some(false), _) => Some(false),
                    _ => None,
                };
            }
            Method::Search(_)
            | Method::Insert(..)
            | Method::Update(..)
            | Method::Remove(_)
            | Method::Truncate { .. }
                if *is_open == Some(false) && code != Some(EINVAL) =>
            {
                return Some(call);
            }
            _ => {}
        }
    }
    None
}

/// A step that a call with this answer takes.
#[derive(Clone)]
struct Step {
    method: Method,
    part: Part,
    session: Session,
    answer: Answer,
    store: Store,
    /// The session as it is before the step.
    me: Client,
}

/// The stores that it may leave.
type Stores = Vec<Store>;

impl Step {
    fn new(store: &Store, call: &Call, answer: Answer) -> Step {
        let (store, me) = (store.clone(), store.client(call.session));
        Step { method: call.method, part: call.part, session: call.session, answer, store, me }
    }

    fn made(self) -> Stores {
        match (self.method, self.part) {
            (Method::Begin { is_snapshot: true }, Part::Step) => self.look(0),
            (Method::Begin { is_snapshot }, _) => self.begin(is_snapshot),
            (Method::BeginAt, part) => self.begin_at(part == Part::Done),
            (Method::SetOldest | Method::SetStable, _) => self.set_global(),
            (Method::RollBackToStable, _) => self.roll_back_to_stable(),
            (Method::Reset, _) => self.reset(),
            (Method::Search(key), Part::Step) => self.take_snapshot(key),
            (Method::Search(key), _) => self.search(key),
            (Method::Insert(key, _) | Method::Update(key, _) | Method::Remove(key), Part::Step) => {
                self.may_write(key)
            }
            (Method::Insert(key, value) | Method::Update(key, value), _) => {
                self.write(key, Some(value))
            }
            (Method::Remove(key), _) => self.write(key, None),
            (Method::Truncate { table, first, last }, Part::Step) => {
                self.truncate_one(table, first, last)
            }
            (Method::Truncate { table, first, last }, _) => self.truncate_last(table, first, last),
            (Method::Prepare, part) => self.prepare(part == Part::Done),
            (
                Method::Commit | Method::CommitAt | Method::CommitPrepared | Method::RollBack,
                part,
            ) => self.end(part == Part::Done),
        }
    }

    fn answers(&self, code: i64) -> bool {
        self.answer.code == code
    }

    /// The store with the session as it is now, if the step is possible.
    fn with(mut self, me: Client) -> Stores {
        self.store.set(self.session, me);
        vec![self.store]
    }

    fn refused(self) -> Stores {
        if !self.answers(EINVAL) {
            return Stores::new();
        }
        let me = self.me.clone().fail();
        self.with(me)
    }

    fn started(self, is_snapshot: bool) -> Stores {
        let mut look = self.me.look.clone();
        look.end();
        let me = Client {
            is_open: true,
            reads_committed: !is_snapshot,
            has_snapshot: is_snapshot,
            reads_at: if self.method == Method::BeginAt { self.answer.at } else { 0 },
            kept: self.me.kept.clone(),
            look,
            ..Client::default()
        };
        self.with(me)
    }

    fn begin(self, is_snapshot: bool) -> Stores {
        match self.me.is_open {
            true => self.refused(),
            false if self.answers(OK) => self.started(is_snapshot),
            false => Stores::new(),
        }
    }

    /// It begins to take a snapshot while others write: that is no instant.
    fn looks(self, stage: Stage, reads_at: i64) -> Stores {
        let look = Look::new();
        let me = Client { stage, has_snapshot: true, look, reads_at, ..self.me.clone() };
        self.with(me)
    }

    fn look(self, reads_at: i64) -> Stores {
        let is_possible = !self.me.is_open && self.me.stage == Stage::Before && self.answers(OK);
        if is_possible { self.looks(Stage::Looking, reads_at) } else { Stores::new() }
    }

    /// The timestamp is looked at before the snapshot is taken.
    fn begin_at(self, is_done: bool) -> Stores {
        let at = self.answer.at;
        let is_early = at < self.store.oldest;
        match (is_done, self.me.stage) {
            (true, Stage::Looking) => self.started(true),
            (true, _) if self.me.is_open || is_early => self.refused(),
            (false, _) if !is_early => self.look(at),
            _ => Stores::new(),
        }
    }

    fn set_global(mut self) -> Stores {
        let (at, is_oldest) = (self.answer.at, self.method == Method::SetOldest);
        let Store { oldest, stable, .. } = self.store;
        let is_wrong = if is_oldest { stable != 0 && at > stable } else { at < oldest };
        if !self.answers(if is_wrong { EINVAL } else { OK }) {
            return Stores::new();
        }
        if !is_wrong {
            let global = if is_oldest { &mut self.store.oldest } else { &mut self.store.stable };
            *global = at.max(*global);
            self.store.tidy(self.store.floor(None));
        }
        vec![self.store]
    }

    /// No other transaction is open. A prepared one of its own does not hinder it. Those that begin
    /// do so after it.
    fn roll_back_to_stable(mut self) -> Stores {
        let runs =
            |other: &Client| other.is_open || other.stage != Stage::Before && !other.look.goes_on;
        if self.store.others(self.session).any(runs) {
            return Stores::new();
        }
        self.store.look_again(self.session);
        let is_wrong = self.store.stable == 0 || self.me.changes > 0 && self.me.prepared_at == 0;
        if !is_wrong {
            self.store.roll_back_to_stable();
        }
        if self.answers(if is_wrong { EINVAL } else { OK }) { vec![self.store] } else { Vec::new() }
    }

    fn reset(mut self) -> Stores {
        let mut me = Client { kept: [].into(), ..self.me.clone() };
        if me.reads_committed && me.has_snapshot {
            (me.has_snapshot, me.look) = (false, Look::default());
            self.store.set(self.session, me.clone());
            self.store.forget(self.session);
        }
        if self.answers(OK) { self.with(me) } else { Stores::new() }
    }
}
