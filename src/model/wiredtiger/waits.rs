//! Which steps may come at once, and which may wait: those that change nothing for others.

use super::call::{Method, Part};
use super::store::{Client, Stage, Store};
use super::{Answer, DUPLICATE_KEY, Made, NOTFOUND, OK};

/// A step that makes nothing impossible, and that may not be possible any more if it comes later.
pub fn at_once(store: &Store, Made { call, answer }: &Made) -> bool {
    let Some(Answer { code, at, .. }) = *answer else { return false };
    let idle = Client::default();
    let me = store.peek(call.session).unwrap_or(&idle);
    match (call.method, call.part) {
        // A snapshot that is being taken may become each that could be taken later.
        (Method::Begin { .. } | Method::BeginAt | Method::Search(_), Part::Step) => true,
        (Method::Insert(..) | Method::Update(..) | Method::Remove(_), Part::Step) => code != OK,
        (Method::Truncate { .. }, Part::Step) => me.reads_committed && !me.has_snapshot,
        // Nothing is changed; and the timestamps grow.
        (Method::SetStable, _) => code != OK || at <= store.stable,
        (Method::SetOldest, _) => code != OK || at <= store.oldest,
        (Method::CommitAt | Method::CommitPrepared | Method::Prepare, Part::Step) => {
            code == OK && me.stage == Stage::Before
        }
        _ => false,
    }
}

/// A step that changes nothing for others, and that they cannot make impossible, if what may come
/// at once does, and nobody rolls back to the stable timestamp.
pub fn may_wait(store: &Store, Made { call, answer }: &Made) -> bool {
    let Some(Answer { code, at, .. }) = *answer else { return false };
    let idle = Client::default();
    let me = store.peek(call.session).unwrap_or(&idle);
    // Its snapshot is taken, or being taken, or will be from the next change on.
    let stays = |key| !store.is_undecided(key);
    match call.method {
        Method::Reset | Method::Begin { is_snapshot: false } => true,
        Method::Begin { .. } => me.is_open || me.stage == Stage::Looking,
        Method::BeginAt => me.is_open || me.stage == Stage::Looking || at < store.oldest,
        Method::Search(_)
        | Method::Insert(..)
        | Method::Update(..)
        | Method::Remove(_)
        | Method::Truncate { .. }
            if me.cannot_call() =>
        {
            true
        }
        Method::Search(key) => stays(key),
        Method::Insert(key, _) | Method::Update(key, _) | Method::Remove(key) => {
            let is_read = code == DUPLICATE_KEY || code == NOTFOUND && me.reads_committed;
            is_read && stays(key)
        }
        Method::Commit | Method::CommitAt | Method::CommitPrepared if me.cannot_end() => true,
        Method::Commit | Method::RollBack => me.changes == 0,
        Method::CommitAt | Method::Prepare => me.changes == 0 && me.stage == Stage::Begun,
        _ => false,
    }
}
