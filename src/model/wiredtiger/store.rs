//! What a WiredTiger database holds, and what its transactions see of that.
//!
//! A key has a chain of updates, the latest modification first, whatever the order of the commits.
//! No numbers of transactions are kept: an update knows the sessions whose snapshots are older than
//! it, and those whose snapshots may be (see `look`). So states that behave in the same way from
//! now on are equal, and updates that nobody can see any more go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::look::Look;
use super::shared::{Sessions, Shared};

/// A table and a key.
pub type Key = (i64, i64);

/// A session, by the number of its client.
pub type Session = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Is {
    Running,
    /// It is prepared: neither committed nor rolled back.
    Undecided,
    Committed,
}

/// 0 is no timestamp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// None: nobody's any more.
    pub by: Option<Session>,
    pub is: Is,
    /// None: the key was removed.
    pub value: Option<i64>,
    pub at: i64,
    pub durable: i64,
    /// Sessions whose snapshots do not show it.
    pub hidden: Sessions,
    /// Sessions whose snapshots may show it or not, and its number there.
    pub maybe: SmallVec<[(Session, u32); 1]>,
    /// So many of one transaction that follow each other: only the last can be seen.
    pub count: u32,
    /// Another's above it was taken away, so that it does not follow the next one.
    pub gap: bool,
}

/// What a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Value(i64),
    Nothing,
    Undecided,
}

/// What a call has done so far that takes several steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    #[default]
    Before,
    /// It took a snapshot, or found its timestamps right.
    Begun,
    /// It found that it may change a key, or rolls back, or removes a range.
    Doing,
    /// It takes the snapshot of a transaction that begins.
    Looking,
}

/// A session, and its transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Client {
    pub is_open: bool,
    /// It reads what is committed; else it is under snapshot isolation.
    pub reads_committed: bool,
    /// A call failed: what was changed can only be rolled back.
    pub failed: bool,
    /// 0: the latest.
    pub reads_at: i64,
    pub has_snapshot: bool,
    /// 0: it is not prepared.
    pub prepared_at: i64,
    /// Changes in all, and the keys by their first and by their last changes.
    pub changes: u32,
    pub first: SmallVec<[Key; 2]>,
    pub last: SmallVec<[Key; 2]>,
    /// Tables whose cursors are on a record.
    pub kept: BTreeSet<i64>,
    pub stage: Stage,
    /// How its snapshot is taken, and what that may have.
    pub look: Look,
    /// Updates of a prepared transaction that were found; where a truncate goes on, and ends.
    pub found: u32,
    pub range: (i64, i64),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    pub oldest: i64,
    pub stable: i64,
    /// None is empty.
    chains: Arc<BTreeMap<Key, Shared<Vec<Update>>>>,
    clients: Arc<BTreeMap<Session, Shared<Client>>>,
}

impl Client {
    /// No call on a key is possible.
    pub fn cannot_call(&self) -> bool {
        !self.is_open || self.prepared_at > 0
    }

    /// What was changed before a failure can only be rolled back.
    pub fn cannot_end(&self) -> bool {
        !self.is_open || self.failed && self.changes > 0
    }

    pub fn fail(mut self) -> Client {
        self.failed |= self.is_open;
        self
    }

    pub fn change(&mut self, key: Key, repeats: bool) {
        self.changes += 1;
        if !repeats {
            self.first.push(key);
        }
        self.last.retain(|other| *other != key);
        self.last.push(key);
    }

    pub fn end(self) -> Client {
        Client { kept: self.kept, ..Client::default() }
    }
}

impl Store {
    pub fn client(&self, session: Session) -> Client {
        self.clients.get(&session).map(|of| of.get().clone()).unwrap_or_default()
    }

    pub fn peek(&self, session: Session) -> Option<&Client> {
        self.clients.get(&session).map(|of| of.get())
    }

    pub fn set(&mut self, session: Session, client: Client) {
        match client == Client::default() {
            true => drop(Arc::make_mut(&mut self.clients).remove(&session)),
            false => drop(Arc::make_mut(&mut self.clients).insert(session, Shared::new(client))),
        }
    }

    /// The other sessions that take a snapshot.
    fn looking(&self, session: Session) -> SmallVec<[Session; 8]> {
        let looks = |other: &Session, of: &Client| *other != session && of.look.goes_on;
        let looking = self.clients.iter().filter(|(other, of)| looks(other, of.get()));
        looking.map(|(other, _)| *other).collect()
    }

    pub fn tell_looking(&mut self, session: Session, tell: impl Fn(&mut Look)) {
        for other in self.looking(session) {
            let mut client = self.client(other);
            tell(&mut client.look);
            self.set(other, client);
        }
    }

    /// Transactions of others that begin have not begun yet.
    pub fn look_again(&mut self, session: Session) {
        for other in self.looking(session) {
            let client = self.client(other).end();
            self.set(other, client);
            self.forget_hidden(other);
        }
    }

    /// Whether other sessions changed something, and are not prepared.
    pub fn has_writers(&self, session: Session) -> bool {
        let writes = |of: &Client| of.is_open && of.changes > 0 && of.prepared_at == 0;
        self.others(session).any(writes)
    }

    pub fn others(&self, session: Session) -> impl Iterator<Item = &Client> {
        self.clients.iter().filter(move |(other, _)| **other != session).map(|(_, of)| of.get())
    }

    /// Nothing that is read from here on is older, but by this session.
    pub fn floor(&self, but: Option<Session>) -> i64 {
        let others = self.clients.iter().filter(|(session, _)| but != Some(**session));
        let read = others.map(|(_, of)| of.get().reads_at).filter(|at| *at > 0);
        read.chain([self.oldest]).min().unwrap_or(0)
    }

    fn sees(update: &Update, session: Session, reads_at: i64) -> bool {
        let in_time = reads_at == 0 || update.at <= reads_at;
        update.by == Some(session)
            || update.is != Is::Running && !update.hidden.contains(session) && in_time
    }

    fn chain(&self, key: Key) -> &[Update] {
        self.chains.get(&key).map_or(&[], |chain| chain.get())
    }

    /// The number of the update that a session may see at a key or not, before it is known what it
    /// reads there.
    pub fn open(&self, key: Key, session: Session, reads_at: i64) -> Option<u32> {
        let sees = |update: &&Update| Store::sees(update, session, reads_at);
        let update = self.chain(key).iter().find(sees)?;
        update.maybe.iter().find(|(other, _)| *other == session).map(|(_, number)| *number)
    }

    /// A session sees what has these numbers, or does not.
    pub fn settle(&mut self, session: Session, numbers: &[u32], sees: bool) {
        let concerned =
            |(other, number): &(Session, u32)| *other == session && numbers.contains(number);
        let settle = |chain: &mut Vec<Update>| {
            for update in chain.iter_mut().filter(|update| update.maybe.iter().any(concerned)) {
                update.maybe.retain(|maybe| !concerned(maybe));
                if !sees {
                    update.hidden.insert(session);
                }
            }
        };
        self.edit_where(|update| update.maybe.iter().any(concerned), settle);
        if sees {
            self.tidy(self.floor(None));
        }
    }

    /// The keys of a table.
    pub fn keys(&self, table: i64) -> SmallVec<[Key; 8]> {
        let keys = self.chains.range((table, i64::MIN)..=(table, i64::MAX));
        keys.map(|(key, _)| *key).collect()
    }

    pub fn read(&self, key: Key, session: Session, reads_at: i64) -> Seen {
        let sees = |update: &&Update| Store::sees(update, session, reads_at);
        match self.chain(key).iter().find(sees) {
            Some(Update { is: Is::Undecided, .. }) => Seen::Undecided,
            Some(Update { value: Some(value), .. }) => Seen::Value(*value),
            _ => Seen::Nothing,
        }
    }

    /// The values that a key may have, each once.
    pub fn values(&self, key: Key) -> BTreeSet<i64> {
        self.chain(key).iter().filter_map(|update| update.value).collect()
    }

    /// The first key of a table from `low` up that is there, or may be.
    pub fn up(&self, table: i64, low: i64, session: Session, reads_at: i64) -> Option<(i64, Seen)> {
        let keys = self.chains.range((table, low)..=(table, i64::MAX));
        self.first(keys.map(|(key, _)| *key), session, reads_at)
    }

    /// The same from `high` down.
    pub fn down(
        &self,
        table: i64,
        high: i64,
        session: Session,
        reads_at: i64,
    ) -> Option<(i64, Seen)> {
        let keys = self.chains.range((table, i64::MIN)..=(table, high));
        self.first(keys.rev().map(|(key, _)| *key), session, reads_at)
    }

    fn first(
        &self,
        keys: impl Iterator<Item = Key>,
        session: Session,
        reads_at: i64,
    ) -> Option<(i64, Seen)> {
        let mut seen = keys.map(|key| (key.1, self.read(key, session, reads_at)));
        seen.find(|(_, seen)| *seen != Seen::Nothing)
    }

    pub fn is_undecided(&self, key: Key) -> bool {
        self.chain(key).iter().any(|update| update.is == Is::Undecided)
    }

    /// Whether others changed the key since the snapshot.
    pub fn conflicts(&self, key: Key, session: Session, client: &Client) -> bool {
        let latest = self.chain(key).first();
        !client.reads_committed
            && latest.is_some_and(|latest| {
                latest.is == Is::Undecided || !Store::sees(latest, session, client.reads_at)
            })
    }

    /// Whether the latest update is the session's own, so that another one follows it.
    pub fn repeats(&self, key: Key, session: Session) -> bool {
        self.chain(key).first().is_some_and(|latest| latest.by == Some(session) && !latest.gap)
    }

    /// How many updates of a prepared transaction are found.
    pub fn found(&self, key: Key, session: Session) -> u32 {
        let own = |update: &&Update| update.by == Some(session);
        self.chain(key).iter().take_while(own).map(|update| update.count).sum()
    }

    fn edit(&mut self, key: Key, edit: impl FnOnce(&mut Vec<Update>)) {
        let mut chain = self.chain(key).to_vec();
        edit(&mut chain);
        match chain.is_empty() {
            true => drop(Arc::make_mut(&mut self.chains).remove(&key)),
            false => drop(Arc::make_mut(&mut self.chains).insert(key, Shared::new(chain))),
        }
    }

    /// Edits the chains that have an update of this kind.
    fn edit_where(&mut self, concerns: impl Fn(&Update) -> bool, edit: impl Fn(&mut Vec<Update>)) {
        let has_one = |(_, chain): &(&Key, &Shared<Vec<Update>>)| chain.get().iter().any(&concerns);
        let keys: SmallVec<[Key; 8]> =
            self.chains.iter().filter(has_one).map(|(key, _)| *key).collect();
        keys.into_iter().for_each(|key| self.edit(key, &edit));
    }

    pub fn write(&mut self, key: Key, session: Session, value: Option<i64>) {
        let repeats = self.repeats(key, session);
        self.edit(key, |chain| {
            if repeats {
                (chain[0].value, chain[0].count) = (value, chain[0].count + 1);
                return;
            }
            let (by, is, hidden) = (Some(session), Is::Running, Sessions::default());
            let (at, durable, maybe, count, gap) = (0, 0, SmallVec::new(), 1, false);
            let update = Update { by, is, value, at, durable, hidden, maybe, count, gap };
            chain.insert(0, update);
        });
    }

    /// All updates of a session are taken away; of a prepared one, those that are found: from the
    /// top of the chain to the first one of another's.
    pub fn undo(&mut self, key: Key, session: Session, is_prepared: bool) {
        self.edit(key, |chain| {
            let mut at = 0;
            while at < chain.len() {
                if chain[at].by != Some(session) {
                    if is_prepared {
                        break;
                    }
                    at += 1;
                    continue;
                }
                chain.remove(at);
                if let Some(below) = chain.get_mut(at) {
                    below.gap |= below.is == Is::Running;
                }
            }
        });
    }

    /// Those that are found are committed.
    pub fn decide(&mut self, key: Key, session: Session, at: i64, durable: i64) {
        self.edit(key, |chain| {
            for update in chain.iter_mut().take_while(|update| update.by == Some(session)) {
                (update.is, update.at, update.durable) = (Is::Committed, at, durable);
            }
        });
    }

    /// All that a session changed is others' to see, but not in snapshots that were taken. Those
    /// that are being taken may have it.
    pub fn publish(&mut self, session: Session, (is, at, durable): (Is, i64, i64)) {
        let (mut holders, mut looking) = (Sessions::default(), SmallVec::new());
        for (other, of) in self.clients.iter().filter(|(other, _)| **other != session) {
            match of.get() {
                Client { look, .. } if look.goes_on => looking.push((*other, look.next())),
                Client { has_snapshot: true, .. } => holders.insert(*other),
                _ => {}
            }
        }
        self.tell_looking(session, |look| look.publish(session));
        self.forget_hidden(session);
        self.edit_where(
            |update| update.by == Some(session),
            |chain| {
                for update in chain.iter_mut().filter(|update| update.by == Some(session)) {
                    let by = (is == Is::Undecided).then_some(session);
                    let count = if by.is_some() { update.count } else { 0 };
                    let (hidden, maybe) = (holders.clone(), looking.clone());
                    let (value, gap) = (update.value, false);
                    *update = Update { by, is, value, at, durable, hidden, maybe, count, gap };
                }
            },
        );
        self.tidy(self.floor(Some(session)));
    }

    /// What a session still has is nobody's.
    pub fn leave(&mut self, session: Session) {
        self.forget_hidden(session);
        self.edit_where(
            |update| update.by == Some(session),
            |chain| {
                for update in chain.iter_mut().filter(|update| update.by == Some(session)) {
                    (update.by, update.count, update.gap) = (None, 0, false);
                }
            },
        );
        self.tidy(self.floor(Some(session)));
    }

    fn forget_hidden(&mut self, session: Session) {
        let is_of = |(other, _): &(Session, u32)| *other == session;
        let remove = |chain: &mut Vec<Update>| {
            for update in chain {
                update.hidden.remove(session);
                update.maybe.retain(|maybe| !is_of(maybe));
            }
        };
        let has_one = |of: &Update| of.hidden.contains(session) || of.maybe.iter().any(is_of);
        self.edit_where(has_one, remove);
    }

    /// The session has no snapshot from here on.
    pub fn forget(&mut self, session: Session) {
        self.forget_hidden(session);
        self.tidy(self.floor(None));
    }

    pub fn roll_back_to_stable(&mut self) {
        let stable = self.stable;
        let keep = |chain: &mut Vec<Update>| chain.retain(|update| update.durable <= stable);
        self.edit_where(|update| update.durable > stable, keep);
        self.tidy(self.floor(None));
    }

    /// What everybody sees hides what is below it, and its age does not matter.
    pub fn tidy(&mut self, floor: i64) {
        let is_settled = |update: &Update| {
            update.is == Is::Committed
                && update.by.is_none()
                && update.hidden.is_empty()
                && update.maybe.is_empty()
                && update.durable <= floor
        };
        let settle = |chain: &mut Vec<Update>| {
            let Some(at) = chain.iter().position(is_settled) else { return };
            chain.truncate(at + 1);
            match chain[at].value {
                Some(_) => (chain[at].at, chain[at].durable) = (0, 0),
                None => drop(chain.pop()),
            }
        };
        let open = |chain: &[Update]| match chain.iter().position(is_settled) {
            Some(at) => at + 1 < chain.len() || chain[at].value.is_none() || chain[at].durable > 0,
            None => false,
        };
        let chains = self.chains.iter().filter(|(_, chain)| open(chain.get()));
        let keys: SmallVec<[Key; 8]> = chains.map(|(key, _)| *key).collect();
        keys.into_iter().for_each(|key| self.edit(key, settle));
    }

    pub fn chains(&self) -> impl Iterator<Item = (&Key, &[Update])> {
        self.chains.iter().map(|(key, chain)| (key, chain.get().as_slice()))
    }

    pub fn clients(&self) -> impl Iterator<Item = (Session, &Client)> {
        self.clients.iter().map(|(session, of)| (*session, of.get()))
    }

    /// Bytes on the heap, about.
    pub fn weight(&self) -> usize {
        48 * (self.chains.len() + self.clients.len())
    }
}
