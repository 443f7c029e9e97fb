//! What calls on keys and ranges of a table do. A transaction that reads what is committed has a
//! snapshot while a cursor is kept; it may take one before the key that it is about changes.

use super::call::Method;
use super::shared::Sessions;
use super::store::{Client, Key, Seen, Stage};
use super::{DUPLICATE_KEY, NOTFOUND, OK, PREPARE_CONFLICT, ROLLBACK, Step, Stores};

/// One key of a range, or that another's prepared update is in the way.
type Bound = Result<Option<i64>, ()>;

impl Step {
    fn cannot_call(&self) -> bool {
        !self.me.is_open || self.me.prepared_at > 0
    }

    /// Takes the cursor from where it is, which may let go of a snapshot.
    fn leave(&mut self, table: i64) {
        if self.me.stage != Stage::Before {
            return;
        }
        self.me.kept.remove(&table);
        if self.me.reads_committed && self.me.kept.is_empty() && self.me.has_snapshot {
            self.me.has_snapshot = false;
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
        (self.me.stage, self.me.unread) = (Stage::Before, Sessions::default());
        let (me, session) = (self.me.clone(), self.session);
        self.store.set(session, me);
        if had_snapshot && !self.me.has_snapshot {
            self.store.forget(session);
        }
        vec![self.store]
    }

    /// A snapshot of its own, where what is read may change though the snapshot does not.
    pub fn take_snapshot(mut self, key: Key) -> Stores {
        let unread = self.store.writers(self.session);
        let is_possible = self.me.reads_committed
            && self.me.stage == Stage::Before
            && self.me.prepared_at == 0
            && (!unread.is_empty() || self.store.is_undecided(key));
        if !is_possible {
            return Stores::new();
        }
        self.leave(key.0);
        if self.me.has_snapshot {
            return Stores::new();
        }
        let me = Client { has_snapshot: true, stage: Stage::Begun, unread, ..self.me.clone() };
        self.with(me)
    }

    pub fn search(mut self, key: Key) -> Stores {
        if self.cannot_call() {
            return self.refused();
        }
        self.leave(key.0);
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
        self.leave(key.0);
        if is_possible && self.code(key) == OK {
            let unread = Sessions::default();
            let me = Client { has_snapshot: true, stage: Stage::Doing, unread, ..self.me.clone() };
            stores.extend(self.with(me));
        }
        stores
    }

    pub fn write(mut self, key: Key, value: Option<i64>) -> Stores {
        if self.cannot_call() {
            return self.refused();
        }
        let (is_found, reads_committed) = (self.me.stage == Stage::Doing, self.me.reads_committed);
        self.leave(key.0);
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
        let repeats = self.store.repeats(key, self.session);
        self.me.change(key, repeats);
        self.store.write(key, self.session, value);
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

    fn remove(&mut self, key: Key) {
        let repeats = self.store.repeats(key, self.session);
        self.me.change(key, repeats);
        self.store.write(key, self.session, None);
    }

    pub fn truncate_one(mut self, table: i64, first: i64, last: i64) -> Stores {
        if self.cannot_call() || first > last {
            return Stores::new();
        }
        if self.me.reads_committed && !self.me.has_snapshot {
            let unread = self.store.writers(self.session);
            let me = Client { has_snapshot: true, stage: Stage::Begun, unread, ..self.me.clone() };
            return self.with(me);
        }
        let (Ok(Some(from)), Ok(Some(to))) = self.bounds(table, first, last) else {
            return Stores::new();
        };
        if from >= to || self.store.conflicts((table, from), self.session, &self.me) {
            return Stores::new();
        }
        self.remove((table, from));
        let (unread, range) = (Sessions::default(), (from + 1, to));
        let me = Client { stage: Stage::Doing, range, unread, ..self.me.clone() };
        self.with(me)
    }

    pub fn truncate_last(mut self, table: i64, first: i64, last: i64) -> Stores {
        if self.cannot_call() || first > last {
            return self.refused();
        }
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
                    self.remove((table, from));
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
