//! Checks sets that also count, rank, select and list their keys. Exact; its time is linear in the
//! history, and exponential only in how many open changes matter to one another.
//!
//! What a set holds depends on which changes have taken effect, not on their order (Lee and Mathur,
//! "anagram-agnostic" types). So all configurations share one base, the changes that have returned,
//! and each is but a mask of the open operations that have taken effect. A read takes effect in a
//! configuration as soon as its answer is right there. When an operation returns, the
//! configurations in which it has not taken effect go on to those in which it has, by changes that
//! matter to it or to a read that still waits; others can wait, since they commute.
//!
//! A configuration is dropped if another has fewer changes and no fewer reads: what is between them
//! alternates on each key, so the other can still get there.
//!
//! On 24 operations of 3 threads it is 2.1 times as fast as the general search (bench `checking`).

use smallvec::{SmallVec, smallvec};

use super::keys::{Index, Sums};
use crate::check::data::events::Events;
use crate::check::data::small::{Few, Small};
use crate::check::explanation::{Explanation, OfSearch};
use crate::check::search::frontier::{Exhausted, OPEN_MAX, limit};
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, Operation, OperationId, Thread};
use crate::core::operation::{Op, Status};
use crate::model::bounds;
use rustc_hash::FxHashSet;

/// An open operation. Keys are by their place among all keys.
struct OpenOperation {
    id: OperationId,
    want: Want,
    /// How many of its keys the base holds; those of a change: its own.
    base: i64,
}

enum Want {
    /// Insert (1) or remove (-1) the key.
    Change { key: usize, by: i64 },
    /// Find so many keys from `from` up to and without `to`, these ones among them.
    Read { from: usize, to: usize, count: Bound, present: Present },
}

/// The keys of a list that was answered, by their places.
type Present = SmallVec<[usize; 4]>;

#[derive(Clone, Copy)]
enum Bound {
    Exactly(i64),
    AtMost(i64),
    Never,
}

/// Up to so many configurations are looked through one by one.
const LINEAR_MAX: usize = 16;
/// More configurations than this are not compared with each other.
const DOMINATED_MAX: usize = 128;

struct Sets<'a> {
    limits: &'a Limits,
    index: Index,
    /// Of each key: inserts less removes of the base. Not always 0 or 1: a change can return before
    /// another that it came after.
    held: Small<i64>,
    sums: Sums,
    open: Few<Option<OpenOperation>>,
    used: u64,
    /// The open operations that change the set.
    changes: u64,
    configurations: Few<u64>,
    reached: Few<u64>,
    visited: Few<u64>,
    /// What was reached or visited, where that is much.
    seen: FxHashSet<u64>,
    steps: u64,
}

fn want(thread: &Thread, operation: &Operation, index: &Index) -> Option<Want> {
    let (op, args, results) = (operation.op, thread.args(operation), thread.results(operation));
    let status = operation.status;
    let changes = status == Status::Ok || status.is_open();
    match op {
        Op::SetInsert if changes => return Some(Want::Change { key: index.at(args[0])?, by: 1 }),
        Op::SetRemove if changes => return Some(Want::Change { key: index.at(args[0])?, by: -1 }),
        _ if status.is_open() => return None,
        _ => {}
    }
    let result = results.first().copied();
    let keys = match op {
        Op::SetSelect => result.and_then(|key| Some(i64::MIN..=key.checked_sub(1)?)),
        _ => bounds(op, args),
    };
    let (mut from, mut to) = keys.map_or((0, 0), |keys| index.range(keys));
    let count = match (op, status) {
        (Op::SetInsert, _) | (Op::SetContains, Status::Ok) => Bound::Exactly(1),
        (Op::SetRemove | Op::SetContains, _) => Bound::Exactly(0),
        (Op::SetRangeList, _) if results.is_sorted_by(|a, b| a < b) => {
            Bound::Exactly(results.len() as i64)
        }
        (Op::SetRangeList, _) => Bound::Never,
        (Op::SetSelect, Status::Failed) => {
            (from, to) = (0, index.len());
            // Nobody is the key above fewer than no others.
            Bound::AtMost(if args[0] < 0 { i64::MAX } else { args[0] })
        }
        (Op::SetSelect, _) => Bound::Exactly(args[0]),
        _ => result.map_or(Bound::Never, Bound::Exactly),
    };
    let listed = if matches!(op, Op::SetSelect | Op::SetRangeList) { results } else { &[] };
    let present: Option<Present> = listed.iter().map(|key| index.at(*key)).collect();
    let inside =
        op == Op::SetSelect || present.iter().flatten().all(|key| (from..to).contains(key));
    Some(match present.filter(|_| inside) {
        Some(present) => Want::Read { from, to, count, present },
        None => Want::Read { from, to, count: Bound::Never, present: Present::new() },
    })
}

/// The places of the bits of a mask.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(place)
    })
}

impl Sets<'_> {
    fn open(&self, place: usize) -> &OpenOperation {
        self.open[place].as_ref().expect("its bit is in use")
    }

    /// How many of the keys from `from` up to `to` the changes of `mask` add to the base.
    #[inline]
    fn added(&self, mask: u64, from: usize, to: usize) -> i64 {
        let changes = bits(mask & self.changes).map(|place| match &self.open(place).want {
            Want::Change { key, by } if (from..to).contains(key) => *by,
            _ => 0,
        });
        changes.sum()
    }

    /// Whether the operation at `place` can take effect in the configuration `mask`.
    fn is_legal(&self, mask: u64, place: usize) -> bool {
        let open = self.open(place);
        match &open.want {
            Want::Change { key, by } => {
                let held = open.base + self.added(mask, *key, key + 1);
                held == i64::from(*by < 0)
            }
            Want::Read { from, to, count, present } => {
                let here = open.base + self.added(mask, *from, *to);
                let right = match count {
                    Bound::Exactly(count) => here == *count,
                    Bound::AtMost(most) => here <= *most,
                    Bound::Never => false,
                };
                right
                    && present
                        .iter()
                        .all(|key| self.held[*key] + self.added(mask, *key, key + 1) == 1)
            }
        }
    }

    fn call(&mut self, id: OperationId, want: Want) -> Result<usize, Exhausted> {
        let place = (!self.used).trailing_zeros() as usize;
        if place >= OPEN_MAX {
            return Err(Exhausted::Open);
        }
        let (base, changes) = match &want {
            Want::Change { key, .. } => (self.held[*key], true),
            Want::Read { from, to, .. } if to - from == 1 => (self.held[*from], false),
            Want::Read { from, to, .. } => (self.sums.upto(*to) - self.sums.upto(*from), false),
        };
        if self.open.len() <= place {
            self.open.resize_with(place + 1, || None);
        }
        self.open[place] = Some(OpenOperation { id, want, base });
        let bit = 1 << place;
        self.used |= bit;
        if changes {
            self.changes |= bit;
            return Ok(place);
        }
        let mut configurations = std::mem::take(&mut self.configurations);
        for mask in &mut configurations {
            if self.is_legal(*mask, place) {
                *mask |= bit;
            }
        }
        self.configurations = configurations;
        Ok(place)
    }

    /// The operation at `place` returns. Says whether any configuration is left.
    fn settle(&mut self, place: usize) -> Result<bool, Exhausted> {
        let bit = 1 << place;
        if self.configurations.iter().any(|mask| mask & bit == 0) {
            self.explore(place)?;
            if self.reached.is_empty() {
                return Ok(false);
            }
            std::mem::swap(&mut self.configurations, &mut self.reached);
        }
        let open = self.open[place].take().expect("it was called");
        self.used &= !bit;
        if let Want::Change { key, by } = open.want {
            self.changes &= !bit;
            self.held[key] += by;
            self.sums.add(key, by);
            for open in self.open.iter_mut().flatten() {
                open.base += match open.want {
                    Want::Change { key: other, .. } if other == key => by,
                    Want::Read { from, to, .. } if (from..to).contains(&key) => by,
                    _ => 0,
                };
            }
        }
        self.configurations.iter_mut().for_each(|mask| *mask &= !bit);
        if self.configurations.len() > 1 {
            self.configurations.sort_unstable();
            self.configurations.dedup();
            self.drop_dominated();
        }
        Ok(true)
    }

    /// Collects in `reached` the configurations in which the operation at `place` has taken effect.
    fn explore(&mut self, place: usize) -> Result<(), Exhausted> {
        let bit = 1 << place;
        self.reached.clear();
        self.visited.clear();
        self.seen.clear();
        for &mask in &self.configurations {
            if mask & bit != 0 {
                self.reached.push(mask);
            } else {
                self.visited.push(mask);
            }
        }
        let mut at = 0;
        while at < self.visited.len() {
            let from = self.visited[at];
            at += 1;
            for change in bits(self.changes & !from) {
                if !self.matters(from, change, place) || !self.is_legal(from, change) {
                    continue;
                }
                let mut to = from | 1 << change;
                for read in bits(self.used & !self.changes & !to) {
                    to |= u64::from(self.is_legal(to, read)) << read;
                }
                if !self.is_new(to) {
                    continue;
                }
                if to & bit != 0 { self.reached.push(to) } else { self.visited.push(to) }
            }
            self.steps += 1;
            limit(
                self.limits,
                self.steps,
                self.visited.len() + self.reached.len(),
                4 * size_of::<u64>(),
            )?;
        }
        self.reached.sort_unstable();
        self.reached.dedup();
        Ok(())
    }

    /// Whether a configuration was neither reached nor visited yet.
    fn is_new(&mut self, mask: u64) -> bool {
        if self.visited.len() + self.reached.len() <= LINEAR_MAX {
            return !self.visited.contains(&mask) && !self.reached.contains(&mask);
        }
        if self.seen.is_empty() {
            self.seen.extend(self.visited.iter().chain(&self.reached));
        }
        self.seen.insert(mask)
    }

    /// Whether `change` makes a difference to the operation at `place`, or to a read that waits.
    fn matters(&self, mask: u64, change: usize, place: usize) -> bool {
        let Want::Change { key, .. } = self.open(change).want else { return false };
        if let Want::Change { key: other, .. } = self.open(place).want
            && key == other
        {
            return true;
        }
        bits(self.used & !self.changes & !mask).any(|read| match &self.open(read).want {
            Want::Read { from, to, present, .. } => {
                (*from..*to).contains(&key) || present.contains(&key)
            }
            Want::Change { .. } => false,
        })
    }

    fn drop_dominated(&mut self) {
        if self.configurations.len() > DOMINATED_MAX {
            return;
        }
        let changes = self.changes;
        let all = std::mem::take(&mut self.configurations);
        let better = |a: u64, b: u64| a != b && a & changes & !b == 0 && b & !changes & !a == 0;
        let kept = all.iter().copied().filter(|b| !all.iter().any(|a| better(*a, *b)));
        self.configurations.extend(kept);
    }
}

pub fn check(history: &History, limits: &Limits) -> Verdict {
    match walk(history, limits) {
        Ok(None) => Verdict::Consistent,
        Ok(Some(witness)) => Verdict::Violation(witness),
        Err(exhausted) => Verdict::Inconclusive(exhausted.into()),
    }
}

fn walk(history: &History, limits: &Limits) -> Result<Option<Witness>, Exhausted> {
    let index = Index::new(history);
    let keys = index.len();
    let mut sets = Sets {
        limits,
        index,
        held: Small::from_elem(0, keys),
        sums: Sums::new(keys),
        open: Few::new(),
        used: 0,
        changes: 0,
        configurations: smallvec![0],
        reached: Few::new(),
        visited: Few::new(),
        seen: FxHashSet::default(),
        steps: 0,
    };
    let mut places: Few<usize> = smallvec![0; history.threads.len()];
    for event in Events::new(history) {
        let thread = event.id.thread as usize;
        if !event.returns {
            let want = want(&history.threads[thread], event.operation, &sets.index);
            if let Some(want) = want {
                places[thread] = sets.call(event.id, want)?;
            }
        } else if !sets.settle(places[thread])? {
            return Ok(Some(unexplained(&sets, places[thread])));
        }
    }
    Ok(None)
}

fn unexplained(sets: &Sets, place: usize) -> Witness {
    let failed = sets.open(place).id;
    let others = sets.open.iter().flatten().map(|open| open.id).filter(|id| *id != failed);
    let others: Vec<_> = others.collect();
    let mut keys_min = None;
    if let Want::Read { from, to, .. } = &sets.open(place).want {
        let count = |mask: &u64| sets.open(place).base + sets.added(*mask, *from, *to);
        keys_min = sets.configurations.iter().map(count).min();
    }
    let explanation =
        Explanation::Search(OfSearch::NoOrder { failed, under_way: others.clone(), keys_min });
    let operations = others.into_iter().chain([failed]).collect();
    Witness::new("set-answer-in-order", explanation, operations)
}
