//! Checks sets that also count, rank, select and list their keys. Exact; its time is linear in the
//! history, and exponential only in how many open changes matter to one another.
//!
//! What a set holds depends on which changes have taken effect, not on their order (Lee and Mathur,
//! "anagram-agnostic" types). So a configuration is a mask of the open operations that have taken
//! effect, over one base, the changes that have returned ([`open`]). A read takes effect as soon as
//! its answer is right. Changes commute, so none takes effect before an operation needs it. An
//! operation needs changes when it returns. A read that is under way then may need some first: the
//! changes that follow can make its answer wrong for good. Each step is as small as possible: a key
//! changes at most once, and no fewer keys would do.
//!
//! The search goes depth first: it follows one configuration, and comes back to the last return
//! with other ways ([`ways`]) where nothing leads on. Changes that return first are chosen first:
//! they must take effect soon anyhow. Four rules leave few configurations, and none is lost that
//! could go on where these cannot:
//! - Of the open changes of a key in one direction, the one that returns first takes effect first.
//!   In an order that has another one first, the two can trade places.
//! - A configuration is dropped if another, tried or failed at the same return, has no more changes
//!   and no fewer reads: what is between them alternates on each key, so the other can still get
//!   there.
//! - By the same rule all other ways are dropped once every open read and no open change has taken
//!   effect. Few threads get there often, so that only a few operations are remembered.
//! - Where an operation cannot take effect whatever else does, only ways are tried that take fewer
//!   changes of its keys.
//!
//! Bench `checking` prints how much faster it is than the general search, and what 50 threads take.
//!
//! - `on_key`: Finds the few operations of a range set that contradict each other on one key: they
//!   show more than how many keys were where an operation looked.
//! - `open`: The operations of a range set that are open at an instant, and what the set holds
//!   beside them.
//! - `want`: What an operation of a range set asks of the set: to change a key, or to find so many.
//! - `ways`: The ways in which the operation that returns can take effect, one after another, the
//!   most promising first.

mod on_key;
mod open;
mod want;
mod ways;

use rustc_hash::FxHashMap;
use smallvec::smallvec;

use self::open::{Open, OpenOperation};
use self::want::{Want, matters, want};
use self::ways::{Branch, Budget, Ways, lack};
use super::keys::Index;
use crate::check::data::bits::{WORD, bits};
use crate::check::data::events::{Events, HistoryEvent};
use crate::check::data::small::{Few, Small};
use crate::check::explanation::{Explanation, OfSearch};
use crate::check::undecided::Exhausted;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::History;

pub fn check(history: &History, limits: &Limits) -> Verdict {
    match Search::new(history, limits).run() {
        Ok(None) => Verdict::Consistent,
        Ok(Some(witness)) => Verdict::Violation(witness),
        Err(exhausted) => Verdict::Inconclusive(exhausted.into()),
    }
}

struct Search<'a> {
    history: &'a History,
    coming: Events<'a>,
    /// The places in use before `coming`, and that of each thread's open operation.
    used: u64,
    places: Few<usize>,
    /// The events since all but one configuration were last dropped, each with its place.
    events: Small<(HistoryEvent<'a>, usize)>,
    /// How many of them have passed; what is open then; the configuration that is followed.
    passed: usize,
    open: Open,
    mask: u64,
    ways: Ways,
    /// By event, a return: the configurations from which nothing leads on.
    failed: FxHashMap<usize, Vec<u64>>,
    /// The latest return at which there was a choice, and how few keys a read found there.
    latest: usize,
    keys_min: Option<i64>,
    budget: Budget<'a>,
}

impl<'a> Search<'a> {
    fn new(history: &'a History, limits: &'a Limits) -> Search<'a> {
        Search {
            history,
            coming: Events::new(history),
            used: 0,
            places: smallvec![0; history.threads.len()],
            events: Small::new(),
            passed: 0,
            open: Open::new(Index::new(history)),
            mask: 0,
            ways: Ways::default(),
            failed: FxHashMap::default(),
            latest: 0,
            keys_min: None,
            budget: Budget::new(limits),
        }
    }

    /// The witness, if nothing explains the history.
    fn run(&mut self) -> Result<Option<Witness>, Exhausted> {
        while self.is_more()? {
            let (event, place) = self.events[self.passed];
            if !event.returns {
                self.pass();
                if self.open.reads() >> place & 1 == 1 && self.open.is_legal(self.mask, place) {
                    self.mask |= 1 << place;
                }
                continue;
            }
            if self.mask >> place & 1 == 0 {
                self.branch(place)?;
            }
            if self.mask >> place & 1 == 0 && !self.go_on()? {
                return Ok(Some(self.unexplained()));
            }
            self.pass();
            self.drop_other_ways();
        }
        Ok(None)
    }

    /// Whether there is an event that has not passed; it is in `events` then.
    fn is_more(&mut self) -> Result<bool, Exhausted> {
        if self.passed < self.events.len() {
            return Ok(true);
        }
        for event in self.coming.by_ref() {
            let thread = event.id.thread as usize;
            if !event.returns {
                if !matters(event.operation) {
                    continue;
                }
                let place = (!self.used).trailing_zeros() as usize;
                if place >= WORD {
                    return Err(Exhausted::Open(WORD));
                }
                self.places[thread] = place;
            }
            self.used ^= 1 << self.places[thread];
            self.events.push((event, self.places[thread]));
            return Ok(true);
        }
        Ok(false)
    }

    /// Lets the next event pass.
    fn pass(&mut self) {
        let (event, place) = self.events[self.passed];
        self.passed += 1;
        if event.returns {
            self.open.settle(place, !self.ways.is_empty());
            self.mask &= !(1 << place);
        } else {
            let thread = &self.history.threads[event.id.thread as usize];
            let want = want(thread, event.operation, &self.open.index);
            self.open.call(place, event.id, event.operation.end, want);
        }
    }

    /// Takes back all that has passed since the event with this number.
    fn take_back(&mut self, event: usize) {
        self.budget.take_back(self.passed - event);
        while self.passed > event {
            self.passed -= 1;
            let (event, place) = self.events[self.passed];
            if event.returns {
                self.open.take_return_back(place);
            } else {
                self.open.take_call_back(place);
            }
        }
    }

    /// The next event is the return of the operation at `place`, which has taken no effect yet.
    fn branch(&mut self, place: usize) -> Result<(), Exhausted> {
        let concerned = self.open.concerned(place);
        if concerned & !self.mask == 1 << place && self.open.is_legal(self.mask, place) {
            // There is one way only.
            self.mask = self.open.with_reads(self.mask | 1 << place);
            return Ok(());
        }
        if self.passed > self.latest {
            (self.latest, self.keys_min) = (self.passed, None);
        }
        let operation = self.open.at(place);
        if self.passed == self.latest && matches!(operation.want, Want::Read { .. }) {
            let here = self.open.counted(self.mask, operation);
            self.keys_min = Some(self.keys_min.map_or(here, |min| min.min(here)));
        }
        self.ways.open(self.passed, place, self.mask, concerned);
        self.hold(0)
    }

    /// Takes a way of the newest return that has one left. Says whether there is one.
    fn go_on(&mut self) -> Result<bool, Exhausted> {
        while let Some(branch) = self.ways.newest().copied() {
            self.take_back(branch.event);
            let failed = self.failed.get(&branch.event).map_or(&[][..], |failed| failed);
            if let Some(way) = self.ways.next(&self.open, failed, &mut self.budget)? {
                self.mask = way;
                return Ok(true);
            }
            self.fail()?;
            if branch.took == 0
                && lack(branch.mask, branch.place, branch.place, &self.open).is_none()
            {
                self.skip(branch)?;
            }
        }
        Ok(false)
    }

    /// Nothing leads on from the newest return.
    fn fail(&mut self) -> Result<(), Exhausted> {
        let event = self.ways.newest().expect("one is open").event;
        let failed = self.failed.entry(event).or_default();
        let before = failed.len();
        failed.extend(self.ways.close());
        let more = failed.len() - before;
        self.hold(more)
    }

    /// So many more configurations have failed.
    fn hold(&mut self, failed: usize) -> Result<(), Exhausted> {
        let event = size_of::<(HistoryEvent, usize)>() + size_of::<OpenOperation>();
        self.budget.hold(failed, self.ways.size() + self.events.len() * event)
    }

    /// The operation of this return cannot take effect, whatever else does. So nothing leads on
    /// from earlier returns, back to the last one at which a change took effect that concerns it:
    /// no way takes back the changes before it (backjumping: Gaschnig 1979).
    fn skip(&mut self, impossible: Branch) -> Result<(), Exhausted> {
        let called = self.events[impossible.event].0.operation.start;
        let want = self.open.at(impossible.place).want.clone();
        while let Some(branch) = self.ways.newest().copied() {
            self.take_back(branch.event);
            let concerns = |place: usize| match self.open.at(place) {
                OpenOperation { want: Want::Change { key, .. }, end, .. } => {
                    *end >= called && (want.counts(*key) || want.lists(*key))
                }
                _ => false,
            };
            if bits(branch.took).any(concerns) {
                break;
            }
            self.fail()?;
        }
        Ok(())
    }

    /// Drops all configurations but the one that is followed, if none can go on where it cannot.
    fn drop_other_ways(&mut self) {
        let is_last = self.ways.is_empty() || self.mask == self.open.reads();
        if is_last && self.passed == self.events.len() {
            self.ways.clear();
            self.failed.clear();
            self.events.clear();
            self.open.forget_returned();
            (self.passed, self.latest, self.keys_min) = (0, 0, None);
        }
    }

    /// No configuration passes the latest return.
    fn unexplained(&mut self) -> Witness {
        while self.passed < self.latest {
            self.pass();
        }
        let (_, place) = self.events[self.latest];
        let failed = self.open.at(place).id;
        if let Some(witness) = on_key::contradiction(self.history, failed) {
            return witness;
        }
        let others = self.open.all().map(|open| open.id).filter(|id| *id != failed);
        let under_way: Vec<_> = others.collect();
        let operations = under_way.iter().copied().chain([failed]).collect();
        let of_search = OfSearch::NoOrder { failed, under_way, keys_min: self.keys_min };
        Witness::new("set-answer-in-order", Explanation::Search(of_search), operations)
    }
}
