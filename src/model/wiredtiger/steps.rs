//! What the calls do that take several steps, after the first.

use std::ops::RangeInclusive;

use super::call::Method;
use super::store::{Ending, Key, Seen, Store, Writer};
use super::{NOTFOUND, OK, PREPARE_CONFLICT, ROLLBACK, Step};

impl Step {
    /// One more key, in any order: the source has one, which nobody can tell from others.
    pub fn each(&self, store: &Store, range: Option<RangeInclusive<Key>>, next: &mut Vec<Store>) {
        let Some(own) = store.transactions.get(&self.session) else { return };
        if let Method::Truncate { .. } = self.method {
            let Some(key) = range.and_then(|range| self.first_seen(store, range)) else { return };
            let is_possible = store.read(self.session, key) != Seen::Prepared;
            if own.prepared_at.is_none() && is_possible && !store.conflicts(self.session, key) {
                let mut after = store.clone();
                after.write(self.session, key, None);
                next.push(after);
            }
            return;
        }
        let (ending, is_prepared) = (own.ending, own.prepared_at.is_some());
        for key in store.changed(self.session) {
            let mut after = store.clone();
            match ending {
                Some(Ending::RollBack) => after.undo(self.session, key),
                Some(Ending::Commit { start, durable }) if is_prepared => {
                    after.resolve(self.session, key, start, durable);
                }
                _ => continue,
            }
            after.prune();
            next.push(after);
        }
    }

    /// The first key of a range that is there, or prepared.
    fn first_seen(&self, store: &Store, range: RangeInclusive<Key>) -> Option<Key> {
        let is_there = |key: &Key| store.read(self.session, *key) != Seen::Value(None);
        store.updates.range(range).map(|(key, _)| *key).find(is_there)
    }

    pub fn last(&self, store: &mut Store, range: Option<RangeInclusive<Key>>) -> bool {
        match self.method {
            Method::Truncate { table, .. } => self.truncated(store, table, range),
            Method::BeginAt => {
                if self.answers(OK) {
                    store.take_snapshot(self.session);
                }
                true
            }
            _ => self.ended(store),
        }
    }

    fn truncated(&self, store: &mut Store, table: i64, range: Option<RangeInclusive<Key>>) -> bool {
        let is_open =
            store.transactions.get(&self.session).is_some_and(|own| own.prepared_at.is_none());
        let Some(range) = range.filter(|_| is_open) else { return true };
        let next = self.first_seen(store, range);
        // It looks at keys beside its range to find where that begins and ends.
        let of_table = store.updates.range((table, i64::MIN)..=(table, i64::MAX));
        let mut of_table = of_table.map(|(key, _)| store.read(self.session, *key));
        let meets_prepared = of_table.any(|seen| seen == Seen::Prepared);
        let code = match next {
            None => OK,
            Some(key) if store.conflicts(self.session, key) => ROLLBACK,
            Some(_) => NOTFOUND, // there is more to remove
        };
        store.kept.remove(&(self.session, table));
        self.leave(store);
        if meets_prepared && self.answers(PREPARE_CONFLICT) {
            return true;
        }
        code != NOTFOUND && self.fails(store, code)
    }

    fn ended(&self, store: &mut Store) -> bool {
        let Some(own) = store.transactions.get_mut(&self.session) else { return true };
        let (ending, is_prepared) = (own.ending.take(), own.prepared_at.is_some());
        match ending {
            None => return true,
            Some(Ending::Prepare { at }) => {
                own.prepared_at = Some(at);
                store.publish(self.session, Writer::Prepared(self.session), at, 0);
                store.release_snapshot(self.session);
                return true;
            }
            Some(Ending::Commit { start, durable }) if !is_prepared => {
                store.publish(self.session, Writer::Committed, start, durable);
            }
            Some(_) if !store.changed(self.session).is_empty() => return false,
            Some(_) => {}
        }
        store.end(self.session);
        true
    }
}
