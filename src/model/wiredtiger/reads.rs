//! What calls on keys and ranges of a table do. A transaction that reads what is committed has a
//! snapshot while a cursor is kept; it may take one before the key that it is about changes.

use super::call::Method;
use super::look::Look;
use super::store::{Client, Key, Seen, Stage};
use super::{DUPLICATE_KEY, NOTFOUND, OK, PREPARE_CONFLICT, ROLLBACK, Step, Stores};

/// One key of a range, or that another's prepared update is in the way.
type Bound = Result<Option<i64>, ()>;

impl Step {
    /// The same step, for each way to settle what the session's snapshot has at these keys.
    fn settled(self, keys: &[Key]) -> Vec<Step> {
        let (mut open, mut settled) = (vec![self], Vec::new());
        while let Some(step) = open.pop() {
            let (session, reads_at) = (step.session, step.me.reads_at);
            let number = keys.iter().find_map(|key| step.store.open(*key, session, reads_at));
            let Some(number) = number else {
                settled.push(step);
                continue;
            };
            for sees in [false, true] {
                let mut step = step.clone();
                let numbers = step.me.look.settle(number, sees);
                step.store.settle(session, &numbers, sees);
                open.push(step);
            }
        }
        settled
    }

    /// Takes the cursor from where it is, which may let go of a snapshot.
    fn leave(&mut self, table: i64) {
        if self.me.stage != Stage::Before {
            return;
        }
        self.me.kept.remove(&table);
        if self.me.reads_committed && self.me.kept.is_empty() && self.me.has_snapshot {
            (self.me.has_snapshot, self.me.look) = (false, Look::default());
            self.store.forget(self.session);
        }
    }

    /// After the call; `keeps`: its cursor stays on a record.
    fn after(mut self, table: i64, keeps: bool) -> Stores {
        let had_snapshot = self.me.has_snapshot;
        match keeps {
            true => drop(self.me.kept.insert(table)),
            false => drop(self.me.kept.remove(&table)),
        }
        if self.me.reads_committed {
            self.me.has_snapshot = !self.me.kept.is_empty();
        }
        self.me.stage = Stage::Before;
        self.me.look.end();
        if !self.me.has_snapshot {
            self.me.look = Look::default();
        }
        let (me, session) = (self.me.clone(), self.session);
        self.store.set(session, me);
        if had_snapshot && !self.me.has_snapshot {
            self.store.forget(session);
        }
        vec![self.store]
    }

    /// A snapshot of its own, where what is read may change though the snapshot does not.
    pub fn take_snapshot(mut self, key: Key) -> Stores {
        let is_possible = self.me.reads_committed
            && self.me.stage == Stage::Before
            && self.me.prepared_at == 0
            && (self.store.has_writers(self.session) || self.store.is_undecided(key));
        if !is_possible {
            return Stores::new();
        }
        self.leave(key.0);
        if self.me.has_snapshot {
            return Stores::new();
        }
        self.looks(Stage::Begun, 0)
    }

    pub fn search(mut self, key: Key) -> Stores {
        if self.me.cannot_call() {
            return self.refused();
        }
        self.leave(key.0);
        self.settled(&[key]).into_iter().flat_map(|step| step.found(key)).collect()
    }

    fn found(self, key: Key) -> Stores {
        let code = match self.store.read(key, self.session, self.me.reads_at) {
            Seen::Value(value) => value,
            Seen::Nothing => NOTFOUND,
            Seen::Undecided => PREPARE_CONFLICT,
        };
        if self.answers(code) { self.after(key.0, code >= 0) } else { Stores::new() }
    }

    /// What a change of a key answers. One that adds looks for conflicts last.
    fn code(&self, key: Key) -> i64 {
        let adds = matches!(self.method, Method::Insert(..));
        let seen = self.store.read(key, self.session, self.me.reads_at);
        let conflicts = self.store.conflicts(key, self.session, &self.me);
        match seen {
            Seen::Undecided => ROLLBACK,
            Seen::Value(_) if adds => DUPLICATE_KEY,
            _ if conflicts => ROLLBACK,
            Seen::Nothing if !adds => NOTFOUND,
            _ => OK,
        }
    }

    /// It takes a snapshot, or finds that it may write, where nobody looks for conflicts.
    pub fn may_write(mut self, key: Key) -> Stores {
        let (store, me) = (self.store.clone(), self.me.clone());
        let snapshot = Step { store, me, ..self };
        let mut stores = snapshot.take_snapshot(key);
        let is_possible = self.me.reads_committed
            && self.me.stage != Stage::Doing
            && self.me.prepared_at == 0
            && self.answers(OK);
        if is_possible {
            self.leave(key.0);
            for mut step in self.settled(&[key]).into_iter().filter(|step| step.code(key) == OK) {
                step.me.look.end();
                let me = Client { has_snapshot: true, stage: Stage::Doing, ..step.me.clone() };
                stores.extend(step.with(me));
            }
        }
        stores
    }

    pub fn write(mut self, key: Key, value: Option<i64>) -> Stores {
        if self.me.cannot_call() {
            return self.refused();
        }
        self.leave(key.0);
        self.settled(&[key]).into_iter().flat_map(|step| step.written(key, value)).collect()
    }

    fn written(mut self, key: Key, value: Option<i64>) -> Stores {
        let (is_found, reads_committed) = (self.me.stage == Stage::Doing, self.me.reads_committed);
        let code = self.code(key);
        if !self.answers(OK) {
            if is_found || !self.answers(code) {
                return Stores::new();
            }
            if code == ROLLBACK {
                self.me = self.me.fail();
            }
            return self.after(key.0, false);
        }
        if !is_found && (reads_committed || code != OK) {
            return Stores::new();
        }
        self.change(key, value);
        let keeps = matches!(self.method, Method::Update(..));
        self.after(key.0, keeps)
    }

    /// Where a truncate begins, or goes on; and where it ends.
    fn bounds(&self, table: i64, first: i64, last: i64) -> (Bound, Bound) {
        let (session, reads_at) = (self.session, self.me.reads_at);
        let known = |found: Option<(i64, Seen)>| match found {
            Some((_, Seen::Undecided)) => Err(()),
            found => Ok(found.map(|(key, _)| key)),
        };
        let up = |low| known(self.store.up(table, low, session, reads_at));
        if self.me.stage == Stage::Doing {
            return (up(self.me.range.0), Ok(Some(self.me.range.1)));
        }
        // Where the last key is not there, the one above is looked for first.
        let end = match up(last) {
            Ok(above) if above != Some(last) => {
                known(self.store.down(table, last - 1, session, reads_at))
            }
            above => above,
        };
        (up(first), end)
    }

    fn change(&mut self, key: Key, value: Option<i64>) {
        let session = self.session;
        if self.me.changes == 0 {
            self.store.tell_looking(session, |look| look.begin(session));
        }
        let repeats = self.store.repeats(key, session);
        self.me.change(key, repeats);
        self.store.write(key, session, value);
    }

    pub fn truncate_one(self, table: i64, first: i64, last: i64) -> Stores {
        if self.me.cannot_call() || first > last {
            return Stores::new();
        }
        if self.me.reads_committed && !self.me.has_snapshot {
            return self.looks(Stage::Begun, 0);
        }
        let keys = self.store.keys(table);
        let each = self.settled(&keys).into_iter();
        each.flat_map(|step| step.removed_one(table, first, last)).collect()
    }

    fn removed_one(mut self, table: i64, first: i64, last: i64) -> Stores {
        let (Ok(Some(from)), Ok(Some(to))) = self.bounds(table, first, last) else {
            return Stores::new();
        };
        if from >= to || self.store.conflicts((table, from), self.session, &self.me) {
            return Stores::new();
        }
        self.change((table, from), None);
        self.me.look.end();
        let me = Client { stage: Stage::Doing, range: (from + 1, to), ..self.me.clone() };
        self.with(me)
    }

    pub fn truncate_last(self, table: i64, first: i64, last: i64) -> Stores {
        if self.me.cannot_call() || first > last {
            return self.refused();
        }
        let keys = self.store.keys(table);
        let each = self.settled(&keys).into_iter();
        each.flat_map(|step| step.removed_last(table, first, last)).collect()
    }

    fn removed_last(mut self, table: i64, first: i64, last: i64) -> Stores {
        let (from, to) = self.bounds(table, first, last);
        let code = match (from, to) {
            (Err(()), _) | (_, Err(())) => PREPARE_CONFLICT,
            (Ok(Some(from)), Ok(Some(to))) if from <= to => {
                if self.store.conflicts((table, from), self.session, &self.me) {
                    self.me = self.me.fail();
                    ROLLBACK
                } else if from < to {
                    return Stores::new();
                } else {
                    self.change((table, from), None);
                    OK
                }
            }
            _ => OK,
        };
        if !self.answers(code) {
            return Stores::new();
        }
        self.me.range = (0, 0);
        let keeps = self.me.kept.contains(&table);
        self.after(table, keeps)
    }
}
