//! WiredTiger's transactions as a sequential object: snapshots, timestamps, prepared transactions,
//! several tables. Written after the source of 3.2.1, which does more than its documentation says.
//!
//! What several steps do is what others can tell apart: that a timestamp was looked at, and that
//! what a transaction changed is seen; and of a prepared transaction, and of one that is rolled
//! back, each key by itself.
//!
//! - `call`: A call of WiredTiger's API and its answer, as JSON has them, and the part of it that a
//!   step is.
//! - `steps`: What the calls do that take several steps, after the first.
//! - `store`: What a WiredTiger database holds, and what its transactions see of that.

mod call;
mod steps;
mod store;

use crate::core::contract::Model;
use crate::core::recorder::Answered;

pub use call::{Answer, Call};
use call::{Method, Part};
pub use store::Store;
use store::{Ending, Key, Seen, Session, Transaction};

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

    fn split(&self, made: &Made, steps: &mut Vec<Made>) {
        steps.extend(made.call.parts().iter().map(|part| {
            let mut step = made.clone();
            step.call.part = *part;
            step
        }));
    }

    fn repeats(&self, step: &Made) -> bool {
        step.call.part == Part::Each
    }

    fn reads(&self, step: &Made) -> bool {
        let of_one = matches!(step.call.method, Method::Search(_) | Method::Reset);
        of_one || matches!(step.call.part, Part::First | Part::Last)
    }

    fn step(&self, store: &Store, made: &Made, next: &mut Vec<Store>) {
        let Call { method, session, part, .. } = made.call;
        let Some(answer) = made.answer else {
            // Its timestamp is not known, so it would be one of any.
            panic!("a call that never returned: what {} did is not known", made.call.text());
        };
        let step = Step { method, session, answer };
        if part == Part::Each {
            step.each(store, made.call.range(), next);
            return;
        }
        let mut after = store.clone();
        let possible = match part {
            Part::Last => step.last(&mut after, made.call.range()),
            _ => step.begins(&mut after),
        };
        if possible {
            next.push(after);
        }
    }

    fn right_answer(&self, store: &Store, made: &Made) -> Option<String> {
        let answer = made.answer?;
        let found = match made.call.method {
            Method::Search(key) => match store.read(made.call.session, key) {
                Seen::Value(Some(value)) => Some(value),
                _ => None,
            },
            _ => None,
        };
        let can = |(code, name): &(i64, &str)| {
            let (value, call) = (found.unwrap_or(answer.value), made.call.clone());
            let given = Answered { call, answer: Some(Answer { code: *code, value, ..answer }) };
            let mut next = Vec::new();
            self.step(store, &given, &mut next);
            (!next.is_empty()).then(|| match found {
                Some(value) if *code == OK => value.to_string(),
                _ => name.to_string(),
            })
        };
        let all: Vec<String> = CODES.iter().filter_map(can).collect();
        (!all.is_empty()).then(|| all.join(" or "))
    }

    fn describe(&self, made: &Made) -> String {
        let Some(Answer { code, value, at, durable }) = made.answer else {
            return made.call.text().to_string();
        };
        let named = CODES.iter().find(|(known, _)| *known == code);
        let code = named.map_or(code.to_string(), |(_, name)| name.to_string());
        let call = made.call.text();
        match made.call.method {
            Method::Search(_) if code == "0" => format!("{call} -> {value}"),
            _ if durable > 0 => format!("{call} -> {code} at {at}, durable at {durable}"),
            _ if at > 0 => format!("{call} -> {code} at {at}"),
            _ => format!("{call} -> {code}"),
        }
    }

    fn weight(&self, store: &Store) -> usize {
        store.updates.values().map(|updates| 64 + 80 * updates.len()).sum::<usize>()
            + 96 * store.transactions.len()
    }
}

/// A step of a call with this answer. Its methods say whether it is possible, and make of the
/// store what it leaves.
#[derive(Clone, Copy)]
struct Step {
    method: Method,
    session: Session,
    answer: Answer,
}

impl Step {
    fn answers(&self, code: i64) -> bool {
        self.answer.code == code
    }

    /// Any failure but of a few is the transaction's.
    fn fails(&self, store: &mut Store, code: i64) -> bool {
        let is_failure = ![OK, NOTFOUND, DUPLICATE_KEY, PREPARE_CONFLICT].contains(&code);
        if let Some(own) = store.transactions.get_mut(&self.session) {
            own.failed |= is_failure;
        }
        self.answers(code)
    }

    /// The whole of a call, or what it does first.
    fn begins(&self, store: &mut Store) -> bool {
        match self.method {
            Method::Begin { is_snapshot } => self.begin(store, is_snapshot, 0),
            Method::BeginAt => self.begin(store, true, self.answer.at),
            Method::SetOldest | Method::SetStable => self.set(store),
            Method::RollBackToStable => self.roll_back_to_stable(store),
            Method::Commit | Method::CommitAt | Method::CommitPrepared | Method::RollBack => {
                self.end(store)
            }
            Method::Prepare => self.prepare(store),
            Method::Reset => self.reset(store),
            Method::Search(..)
            | Method::Insert(..)
            | Method::Update(..)
            | Method::Remove(..)
            | Method::Truncate { .. } => self.operate(store),
        }
    }

    fn begin(&self, store: &mut Store, is_snapshot: bool, reads_at: i64) -> bool {
        if store.transactions.contains_key(&self.session) {
            return self.fails(store, EINVAL);
        }
        if self.method == Method::BeginAt && reads_at < store.oldest {
            return self.answers(EINVAL);
        }
        let transaction = Transaction {
            is_snapshot,
            has_snapshot: false,
            reads_at,
            prepared_at: None,
            failed: false,
            ending: None,
        };
        store.transactions.insert(self.session, transaction);
        if is_snapshot && self.method != Method::BeginAt {
            store.take_snapshot(self.session);
        }
        self.answers(OK)
    }

    fn set(&self, store: &mut Store) -> bool {
        let (at, is_oldest) = (self.answer.at, self.method == Method::SetOldest);
        let (oldest, stable) = if is_oldest { (at, store.stable) } else { (store.oldest, at) };
        if at == 0 || stable > 0 && oldest > stable {
            return self.answers(EINVAL);
        }
        (store.oldest, store.stable) = (store.oldest.max(oldest), store.stable.max(stable));
        store.prune();
        self.answers(OK)
    }

    /// With a snapshot that no change came after, it may be refused or not.
    fn roll_back_to_stable(&self, store: &mut Store) -> bool {
        let (mut changes, mut reads) = (false, false);
        for (session, own) in &store.transactions {
            let is_prepared = own.prepared_at.is_some();
            changes |= !is_prepared && !store.changed(*session).is_empty();
            reads |= own.has_snapshot;
        }
        if store.stable == 0 || changes {
            return self.answers(EINVAL);
        }
        if reads && self.answers(EINVAL) {
            return true;
        }
        store.roll_back_to_stable();
        self.answers(OK)
    }

    fn reset(&self, store: &mut Store) -> bool {
        store.kept.retain(|(session, _)| *session != self.session);
        self.leave(store);
        self.answers(OK)
    }

    /// No cursor is on a record: a snapshot of what is committed is no longer held.
    fn leave(&self, store: &mut Store) {
        let own = store.transactions.get(&self.session);
        let is_held = store.kept.iter().any(|(session, _)| *session == self.session);
        if !is_held && own.is_some_and(|own| !own.is_snapshot && own.has_snapshot) {
            store.release_snapshot(self.session);
        }
    }

    /// Puts the cursor of a table on another key, for which there is a snapshot then.
    fn enter(&self, store: &mut Store, table: i64) {
        store.kept.remove(&(self.session, table));
        self.leave(store);
        if store.transactions.get(&self.session).is_some_and(|own| !own.has_snapshot) {
            store.take_snapshot(self.session);
        }
    }

    fn operate(&self, store: &mut Store) -> bool {
        let Some(own) = store.transactions.get(&self.session) else {
            return self.answers(EINVAL);
        };
        if own.prepared_at.is_some() {
            return self.fails(store, EINVAL);
        }
        let (key, stays) = match self.method {
            Method::Search(key) | Method::Update(key, _) => (key, true),
            Method::Insert(key, _) | Method::Remove(key) => (key, false),
            Method::Truncate { first, last, .. } if first > last => {
                return self.fails(store, EINVAL);
            }
            Method::Truncate { table, first, .. } => {
                self.enter(store, table);
                store.kept.insert((self.session, table));
                let _ = first;
                return true;
            }
            _ => unreachable!("it is no operation on a table"),
        };
        self.enter(store, key.0);
        let code = self.on_key(store, key);
        if stays && code == OK {
            store.kept.insert((self.session, key.0));
        }
        self.leave(store);
        self.fails(store, code)
    }

    /// What an operation on a key comes to, and does.
    fn on_key(&self, store: &mut Store, key: Key) -> i64 {
        let (seen, conflicts) = (store.read(self.session, key), store.conflicts(self.session, key));
        let is_insert = matches!(self.method, Method::Insert(..));
        let is_search = matches!(self.method, Method::Search(_));
        match seen {
            Seen::Value(Some(value)) if is_search && value == self.answer.value => OK,
            // It found another value than it answers.
            Seen::Value(Some(_)) if is_search => i64::MIN,
            Seen::Value(Some(_)) if is_insert => DUPLICATE_KEY,
            Seen::Prepared if is_search => PREPARE_CONFLICT,
            Seen::Prepared => ROLLBACK,
            Seen::Value(_) if conflicts && !is_search => ROLLBACK,
            Seen::Value(None) if !is_insert => NOTFOUND,
            Seen::Value(_) => {
                let value = match self.method {
                    Method::Insert(_, value) | Method::Update(_, value) => Some(value),
                    _ => None,
                };
                store.write(self.session, key, value);
                OK
            }
        }
    }

    fn prepare(&self, store: &mut Store) -> bool {
        let changes = !store.changed(self.session).is_empty();
        let at = self.answer.at;
        let Some(own) = store.transactions.get_mut(&self.session) else {
            return self.answers(EINVAL);
        };
        if own.prepared_at.is_some() || own.failed && changes || at < store.oldest {
            return self.fails(store, EINVAL);
        }
        own.ending = Some(Ending::Prepare { at });
        self.answers(OK)
    }

    /// Whether a transaction is committed or rolled back is known at once.
    fn end(&self, store: &mut Store) -> bool {
        let changes = !store.changed(self.session).is_empty();
        let Some(own) = store.transactions.get(&self.session) else {
            return self.answers(EINVAL);
        };
        let rolls_back = self.method == Method::RollBack;
        if own.failed && changes && !rolls_back {
            // It stays as it is.
            return self.answers(EINVAL);
        }
        let commits = self.commits(store, own);
        if rolls_back {
            store.kept.retain(|(session, _)| *session != self.session);
        }
        let own = store.transactions.get_mut(&self.session).expect("it runs");
        own.ending = Some(commits.unwrap_or(Ending::RollBack));
        self.answers(if commits.is_some() || rolls_back { OK } else { EINVAL })
    }

    /// What is committed, unless something is wrong with the timestamps.
    fn commits(&self, store: &Store, own: &Transaction) -> Option<Ending> {
        let Answer { at, durable, .. } = self.answer;
        let least = store.oldest.max(store.stable);
        match (self.method, own.prepared_at) {
            (Method::Commit, None) => Some(Ending::Commit { start: 0, durable: 0 }),
            (Method::CommitAt, None) => (own.is_snapshot && at >= least)
                .then_some(Ending::Commit { start: at, durable: at }),
            (Method::CommitPrepared, Some(prepared)) => {
                let in_order = at >= prepared && durable >= at && durable >= least;
                (own.is_snapshot && in_order).then_some(Ending::Commit { start: at, durable })
            }
            _ => None,
        }
    }
}
