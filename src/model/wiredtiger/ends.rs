//! How transactions end: committed, prepared, or rolled back. A prepared one, and one that is
//! rolled back, does so key by key.

use smallvec::SmallVec;

use super::call::Method;
use super::look::Look;
use super::store::{Client, Is, Key, Stage};
use super::{Answer, EINVAL, OK, Step, Stores};

impl Step {
    fn is_early(&self, at: i64) -> bool {
        at < self.store.oldest || at < self.store.stable
    }

    /// Whether something is wrong with the timestamps, so that it is rolled back.
    fn is_wrong(&self) -> bool {
        let (Answer { at, durable, .. }, me) = (self.answer, &self.me);
        match self.method {
            Method::Commit => me.prepared_at > 0,
            Method::CommitAt => me.reads_committed || me.prepared_at > 0 || self.is_early(at),
            Method::CommitPrepared => {
                let in_order = me.prepared_at <= at && at <= durable;
                me.reads_committed || me.prepared_at == 0 || !in_order || self.is_early(durable)
            }
            _ => true,
        }
    }

    /// Its timestamps are looked at before others see what it changed.
    pub fn end(self, is_done: bool) -> Stores {
        let rolls_back = self.method == Method::RollBack;
        if !self.me.is_open || !rolls_back && self.me.cannot_end() {
            return if is_done { self.refused() } else { Stores::new() };
        }
        let is_prepared = self.me.prepared_at > 0;
        match (is_done, self.me.stage, self.is_wrong()) {
            (_, Stage::Doing, _) | (_, Stage::Before, true) => self.roll_back(is_done),
            (true, Stage::Begun, _) if is_prepared => self.decide_last(),
            (false, Stage::Begun, _) if is_prepared => self.decide_one(),
            (true, Stage::Begun, _) => self.publish(),
            (true, Stage::Before, _) if self.method == Method::Commit => self.publish(),
            // A prepared one may yet fail: its updates may not be found.
            (false, Stage::Before, _)
                if self.method == Method::CommitPrepared
                    || self.method == Method::CommitAt && self.answers(OK) =>
            {
                let me = Client { stage: Stage::Begun, ..self.me.clone() };
                self.with(me)
            }
            _ => Stores::new(),
        }
    }

    /// Others see all of it from here on.
    fn publish(self) -> Stores {
        if !self.answers(OK) {
            return Stores::new();
        }
        let at = if self.method == Method::Commit { 0 } else { self.answer.at };
        let me = self.me.clone().end();
        self.published((Is::Committed, at, at), me)
    }

    fn published(mut self, how: (Is, i64, i64), me: Client) -> Stores {
        if self.me.changes > 0 {
            self.store.publish(self.session, how);
        } else {
            self.store.leave(self.session);
        }
        self.with(me)
    }

    fn next(&self) -> Option<Key> {
        let me = &self.me;
        if me.prepared_at > 0 { me.first.first() } else { me.last.first() }.copied()
    }

    /// How many keys are left.
    fn left(&self) -> usize {
        if self.me.prepared_at > 0 { self.me.first.len() } else { self.me.last.len() }
    }

    fn decide(&mut self) {
        if let Some(key) = self.next() {
            self.me.found += self.store.found(key, self.session);
            let Answer { at, durable, .. } = self.answer;
            self.store.decide(key, self.session, at, durable);
            self.me.first.remove(0);
        }
    }

    fn decide_one(mut self) -> Stores {
        if self.left() <= 1 {
            return Stores::new();
        }
        self.decide();
        let me = self.me.clone();
        self.with(me)
    }

    /// It fails if it has not found all its updates, but those that it has found are committed.
    fn decide_last(mut self) -> Stores {
        if self.left() > 1 {
            return Stores::new();
        }
        self.decide();
        if !self.answers(if self.me.found == self.me.changes { OK } else { EINVAL }) {
            return Stores::new();
        }
        self.store.leave(self.session);
        let me = self.me.clone().end();
        self.with(me)
    }

    fn undo(&mut self) {
        let Some(key) = self.next() else { return };
        let is_prepared = self.me.prepared_at > 0;
        if is_prepared {
            self.me.found += self.store.found(key, self.session);
        }
        self.store.undo(key, self.session, is_prepared);
        if is_prepared {
            self.me.first.remove(0)
        } else {
            self.me.last.remove(0)
        };
    }

    fn roll_back(mut self, is_done: bool) -> Stores {
        let rolls_back = self.method == Method::RollBack;
        if self.left() > 1 {
            if is_done || !rolls_back && self.answers(OK) {
                return Stores::new();
            }
            self.undo();
            let me = Client { stage: Stage::Doing, ..self.me.clone() };
            return self.with(me);
        }
        if !is_done {
            return Stores::new();
        }
        let (is_prepared, is_last) = (self.me.prepared_at > 0, self.left() == 1);
        self.undo();
        if rolls_back {
            self.me.kept.clear();
        }
        // A prepared one that has not found all its updates stays open; they stay undecided.
        let stays = is_prepared && is_last && self.me.found != self.me.changes;
        let me = match stays {
            true => Client {
                first: SmallVec::new(),
                last: SmallVec::new(),
                failed: true,
                stage: Stage::Before,
                found: 0,
                ..self.me.clone()
            },
            false => self.me.clone().end(),
        };
        if !self.answers(if stays || !rolls_back { EINVAL } else { OK }) {
            return Stores::new();
        }
        self.store.leave(self.session);
        let session = self.session;
        self.store.tell_looking(session, |look| look.leave(session));
        self.with(me)
    }

    /// The oldest timestamp is looked at before others see what is prepared.
    pub fn prepare(self, is_done: bool) -> Stores {
        let at = self.answer.at;
        let is_wrong = self.me.cannot_end() || self.me.prepared_at > 0 || at < self.store.oldest;
        match (is_done, self.me.stage) {
            (true, Stage::Begun) => {
                let me = Client {
                    prepared_at: at,
                    has_snapshot: false,
                    look: Look::default(),
                    reads_at: 0,
                    stage: Stage::Before,
                    ..self.me.clone()
                };
                self.published((Is::Undecided, at, 0), me)
            }
            (true, _) if is_wrong => self.refused(),
            (false, Stage::Before) if !is_wrong && self.answers(OK) => {
                let me = Client { stage: Stage::Begun, ..self.me.clone() };
                self.with(me)
            }
            _ => Stores::new(),
        }
    }
}
