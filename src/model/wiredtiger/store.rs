//! What a WiredTiger database holds, and what its transactions see of that.
//!
//! A key has its updates, the latest modification first. No numbers of transactions are kept: an
//! update knows the sessions whose snapshots are older than it. So states that behave in the same
//! way from now on are equal, and updates that nobody can see any more go.

use std::collections::{BTreeMap, BTreeSet};

/// A table and a key.
pub type Key = (i64, i64);

/// A session, by the number of its client.
pub type Session = u32;

/// Whose an update is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writer {
    Running(Session),
    Prepared(Session),
    Committed,
}

/// 0 is no timestamp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    pub writer: Writer,
    /// When it was committed, or prepared.
    pub start: i64,
    pub durable: i64,
    /// None: the key was removed.
    pub value: Option<i64>,
    /// Sessions whose snapshots do not show it.
    pub hidden: BTreeSet<Session>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transaction {
    /// Whether it is under snapshot isolation; else it reads what is committed.
    pub is_snapshot: bool,
    pub has_snapshot: bool,
    /// 0: it reads the latest.
    pub reads_at: i64,
    pub prepared_at: Option<i64>,
    /// An operation failed: what was changed can only be rolled back.
    pub failed: bool,
    pub ending: Option<Ending>,
}

/// What a call is about that ends or prepares a transaction, and has begun to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    Commit { start: i64, durable: i64 },
    RollBack,
    Prepare { at: i64 },
}

/// What a search comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Value(Option<i64>),
    Prepared,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    pub oldest: i64,
    pub stable: i64,
    pub updates: BTreeMap<Key, Vec<Update>>,
    pub transactions: BTreeMap<Session, Transaction>,
    /// Cursors that are on a record, by session and table. They hold the snapshot of a transaction
    /// that reads what is committed.
    pub kept: BTreeSet<(Session, i64)>,
}

impl Update {
    fn is_by(&self, session: Session) -> bool {
        [Writer::Running(session), Writer::Prepared(session)].contains(&self.writer)
    }
}

impl Store {
    pub fn changed(&self, session: Session) -> Vec<Key> {
        let has = |updates: &[Update]| updates.iter().any(|update| update.is_by(session));
        self.updates.iter().filter(|(_, updates)| has(updates)).map(|(key, _)| *key).collect()
    }

    fn is_visible(&self, update: &Update, session: Session) -> bool {
        let reads_at = self.transactions.get(&session).map_or(0, |own| own.reads_at);
        let in_time = reads_at == 0 || update.start <= reads_at;
        match update.writer {
            Writer::Running(other) => other == session,
            _ => !update.hidden.contains(&session) && in_time,
        }
    }

    pub fn read(&self, session: Session, key: Key) -> Seen {
        let mut updates = self.updates.get(&key).into_iter().flatten();
        match updates.find(|update| self.is_visible(update, session)) {
            Some(Update { writer: Writer::Prepared(_), .. }) => Seen::Prepared,
            seen => Seen::Value(seen.and_then(|update| update.value)),
        }
    }

    /// Whether a change would be one of a key whose latest update the session does not see.
    pub fn conflicts(&self, session: Session, key: Key) -> bool {
        let checks = self.transactions.get(&session).is_some_and(|own| own.is_snapshot);
        let latest = self.updates.get(&key).and_then(|updates| updates.first());
        checks
            && latest.is_some_and(|latest| {
                !self.is_visible(latest, session) || matches!(latest.writer, Writer::Prepared(_))
            })
    }

    pub fn write(&mut self, session: Session, key: Key, value: Option<i64>) {
        let updates = self.updates.entry(key).or_default();
        // Nobody tells an earlier one of the same transaction from this one.
        if updates.first().is_some_and(|latest| latest.is_by(session)) {
            updates.remove(0);
        }
        let (writer, hidden) = (Writer::Running(session), BTreeSet::new());
        updates.insert(0, Update { writer, start: 0, durable: 0, value, hidden });
    }

    pub fn take_snapshot(&mut self, session: Session) {
        if let Some(own) = self.transactions.get_mut(&session) {
            own.has_snapshot = true;
        }
        self.forget_hidden(session);
    }

    pub fn release_snapshot(&mut self, session: Session) {
        if let Some(own) = self.transactions.get_mut(&session) {
            own.has_snapshot = false;
        }
        self.forget_hidden(session);
        self.prune();
    }

    fn forget_hidden(&mut self, session: Session) {
        for update in self.updates.values_mut().flatten() {
            update.hidden.remove(&session);
        }
    }

    /// All that a session changed becomes another's to see, but for snapshots that were taken.
    pub fn publish(&mut self, session: Session, writer: Writer, start: i64, durable: i64) {
        let holds = |(other, own): (&Session, &Transaction)| {
            (own.has_snapshot && *other != session).then_some(*other)
        };
        let hidden: BTreeSet<Session> = self.transactions.iter().filter_map(holds).collect();
        for update in self.updates.values_mut().flatten() {
            if update.writer == Writer::Running(session) {
                *update = Update { writer, start, durable, hidden: hidden.clone(), ..*update };
            }
        }
    }

    /// One key that a prepared transaction changed is committed.
    pub fn resolve(&mut self, session: Session, key: Key, start: i64, durable: i64) {
        for update in self.updates.get_mut(&key).into_iter().flatten() {
            if update.writer == Writer::Prepared(session) {
                (update.writer, update.start, update.durable) = (Writer::Committed, start, durable);
            }
        }
    }

    /// One key that a transaction changed is as it was.
    pub fn undo(&mut self, session: Session, key: Key) {
        if let Some(updates) = self.updates.get_mut(&key) {
            updates.retain(|update| !update.is_by(session));
        }
    }

    pub fn roll_back_to_stable(&mut self) {
        let stable = self.stable;
        let stays = |update: &Update| update.start == 0 || update.durable <= stable;
        self.updates.values_mut().for_each(|updates| updates.retain(stays));
        self.prune();
    }

    pub fn end(&mut self, session: Session) {
        self.transactions.remove(&session);
        self.release_snapshot(session);
    }

    /// Forgets what no transaction sees, of those that run and those that begin later.
    pub fn prune(&mut self) {
        let readers = self.transactions.values().map(|own| own.reads_at).filter(|at| *at > 0);
        let earliest = readers.min().unwrap_or(i64::MAX).min(self.oldest);
        let stable = self.stable;
        let is_settled = |update: &Update| {
            update.writer == Writer::Committed
                && update.hidden.is_empty()
                && (update.start == 0 || update.start <= earliest && update.durable <= stable)
        };
        self.updates.retain(|_, updates| {
            if let Some(at) = updates.iter().position(is_settled) {
                updates.truncate(at + 1);
                match updates[at].value {
                    Some(_) => (updates[at].start, updates[at].durable) = (0, 0),
                    None => drop(updates.pop()),
                }
            }
            !updates.is_empty()
        });
    }
}
