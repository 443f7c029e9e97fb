//! Searches histories of maps and registers, where each key is one cell. Linearizability is local,
//! so the keys are independent histories (Herlihy and Wing 1990; as "P-compositionality" Horn and
//! Kroening 2015); nothing is sorted or copied to part them.
//!
//! The search is that of [`super::frontier`], specialised for cells: the effect of a call on a cell
//! is a few words, and one numbering of the open calls serves all keys. More open calls than there
//! are numbers go to [`super::keyed`].
//!
//! On 24 operations of 3 threads a map is 4.5 times and a register 2.6 times as fast as by the
//! general search with a frontier for each key (bench `checking`).

use smallvec::{SmallVec, smallvec};

use super::frontier::limit;
use super::keyed::unexplained;
use super::parallel::{Failed, Share};
use super::steps::call_of;
use crate::check::data::bits::{WORD, bits};
use crate::check::data::events::Events;
use crate::check::undecided::Exhausted;
use crate::check::verdict::Limits;
use crate::core::history::{History, OperationId};
use crate::model::{Cell, Effect, key};
use rustc_hash::FxHashMap;

/// Which of the key's calls under way have taken effect, and what the cell holds then.
#[derive(Clone, Copy, PartialEq)]
struct Configuration {
    done: u64,
    held: Option<i64>,
}

/// Few of them, where they are few.
type Configurations = SmallVec<[Configuration; 4]>;

/// All ways in which a key's calls can have gone so far.
struct Key {
    configurations: Configurations,
    /// The calls under way; those of them that only read; those that never return.
    open: u64,
    reads: u64,
    optional: u64,
}

/// The keys, by the order of their first calls.
struct Keys {
    initial: Option<i64>,
    names: SmallVec<[i64; LINEAR_MAX]>,
    keys: SmallVec<[Key; LINEAR_MAX]>,
    /// Their places, where there are too many to look at all.
    index: FxHashMap<i64, u32>,
}

/// Up to so many of anything are looked through one by one.
const LINEAR_MAX: usize = 32;

impl Keys {
    /// The place of a key.
    #[inline]
    fn at(&mut self, name: i64) -> usize {
        let known = match self.names.len() {
            ..=LINEAR_MAX => self.names.iter().position(|other| *other == name),
            _ => self.index.get(&name).map(|at| *at as usize),
        };
        known.unwrap_or_else(|| self.add(name))
    }

    fn add(&mut self, name: i64) -> usize {
        let first = Configuration { done: 0, held: self.initial };
        self.names.push(name);
        self.keys.push(Key { configurations: smallvec![first], open: 0, reads: 0, optional: 0 });
        match self.names.len() {
            ..=LINEAR_MAX => {}
            len if len == LINEAR_MAX + 1 => {
                self.index = self.names.iter().copied().zip(0..).collect();
            }
            len => drop(self.index.insert(name, len as u32 - 1)),
        }
        self.names.len() - 1
    }
}

/// Visited configurations, without those that another one dominates: with the same cell and the
/// same calls that must take effect, and a part of those that need not.
#[derive(Default)]
struct Met {
    all: SmallVec<[Configuration; LINEAR_MAX]>,
    /// Where they are many: by the cell and what had to take effect, what else had.
    index: FxHashMap<(u64, Option<i64>), SmallVec<[u64; 2]>>,
}

impl Met {
    fn clear(&mut self) {
        self.all.clear();
        self.index.clear();
    }

    fn insert(&mut self, new: Configuration, optional: u64) {
        let is_dominated = match self.all.len() {
            ..LINEAR_MAX => self.all.iter().any(|other| {
                other.held == new.held
                    && (other.done ^ new.done) & !optional == 0
                    && other.done & !new.done == 0
            }),
            _ => self.is_dominated(new, optional),
        };
        if !is_dominated {
            self.all.push(new);
        }
    }

    fn is_dominated(&mut self, new: Configuration, optional: u64) -> bool {
        let key = |one: &Configuration| (one.done & !optional, one.held);
        if self.index.is_empty() {
            for one in &self.all {
                self.index.entry(key(one)).or_default().push(one.done & optional);
            }
        }
        let others = self.index.entry(key(&new)).or_default();
        if others.iter().any(|other| other & !new.done == 0) {
            return true;
        }
        others.push(new.done & optional);
        false
    }
}

/// What the calls under way do, and room to work in.
struct Search<'l> {
    limits: &'l Limits,
    effects: [Option<Effect>; WORD],
    used: u64,
    steps: u64,
    reached: Met,
    visited: Met,
}

impl Search<'_> {
    /// Lets every read under way that can see what the cell holds do so.
    #[inline]
    fn read(&self, key: &Key, configuration: &mut Configuration) {
        for place in bits(key.reads & !configuration.done) {
            let seen = self.effect(place).on(configuration.held).is_some();
            configuration.done |= u64::from(seen) << place;
        }
    }

    #[inline]
    fn effect(&self, place: usize) -> &Effect {
        self.effects[place].as_ref().expect("its bit is in use")
    }

    /// A call begins; returns its bit.
    fn call(
        &mut self,
        key: &mut Key,
        effect: Effect,
        reads: bool,
        optional: bool,
    ) -> Result<u64, Exhausted> {
        let place = (!self.used).trailing_zeros() as usize;
        let bit = 1u64.checked_shl(place as u32).ok_or(Exhausted::Open(WORD))?;
        self.used |= bit;
        self.effects[place] = Some(effect);
        key.open |= bit;
        key.optional |= if optional { bit } else { 0 };
        if reads {
            key.reads |= bit;
            for configuration in &mut key.configurations {
                let seen = effect.on(configuration.held).is_some();
                configuration.done |= if seen { bit } else { 0 };
            }
        }
        Ok(bit)
    }

    /// The call of this bit returns: it must have taken effect. Says whether it can have; if not,
    /// the key stays as it was.
    fn close(&mut self, key: &mut Key, bit: u64) -> Result<bool, Exhausted> {
        if key.configurations.iter().any(|one| one.done & bit == 0) {
            self.explore(key, bit)?;
            if self.reached.all.is_empty() {
                return Ok(false);
            }
            key.configurations.clear();
            key.configurations.extend_from_slice(&self.reached.all);
        } else if let [only] = &mut key.configurations[..] {
            only.done &= !bit;
        } else {
            self.reached.clear();
            for one in &key.configurations {
                self.reached.insert(Configuration { done: one.done & !bit, ..*one }, 0);
            }
            key.configurations.clear();
            key.configurations.extend_from_slice(&self.reached.all);
        }
        if key.optional != 0 {
            // Those that make others needless come first, next time.
            key.configurations.sort_by_key(|one| one.done.count_ones());
        }
        self.used &= !bit;
        key.open &= !bit;
        key.reads &= !bit;
        Ok(true)
    }

    /// Collects in `reached` the first configurations on every path in which the call of `bit` has
    /// taken effect.
    fn explore(&mut self, key: &Key, bit: u64) -> Result<(), Exhausted> {
        self.reached.clear();
        self.visited.clear();
        for one in &key.configurations {
            self.sort_in(*one, bit, key.optional);
        }
        let mut at = 0;
        while let Some(&from) = self.visited.all.get(at) {
            at += 1;
            for place in bits(key.open & !key.reads & !from.done) {
                let Some(held) = self.effect(place).on(from.held) else { continue };
                if key.optional >> place & 1 == 1 && held == from.held {
                    continue;
                }
                let mut to = Configuration { done: from.done | 1 << place, held };
                self.read(key, &mut to);
                self.sort_in(to, bit, key.optional);
            }
            self.steps += 1;
            let held = self.visited.all.len() + self.reached.all.len();
            // Twice: in the list, and in the index of what it has.
            limit(self.limits, self.steps, held, 2 * size_of::<Configuration>())?;
        }
        Ok(())
    }

    #[inline]
    fn sort_in(&mut self, one: Configuration, bit: u64, optional: u64) {
        match one.done & bit {
            0 => self.visited.insert(one, optional),
            _ => self.reached.insert(Configuration { done: one.done & !bit, ..one }, optional),
        }
    }
}

/// A call under way: its key's place, and its bit.
type Opened = Option<(OperationId, u32, u64)>;

/// The first operation that no order explains, among those on the keys of this share.
pub fn walk(
    history: &History,
    cell: &Cell,
    limits: &Limits,
    share: &Share,
) -> Result<Option<Failed>, Exhausted> {
    let (names, keys, index) = (SmallVec::new(), SmallVec::new(), FxHashMap::default());
    let mut keys = Keys { initial: cell.initial, names, keys, index };
    let effects = [const { None }; WORD];
    let (reached, visited) = (Met::default(), Met::default());
    let mut search = Search { limits, effects, used: 0, steps: 0, reached, visited };
    let mut open: SmallVec<[Opened; 8]> = smallvec![None; history.threads.len()];
    for event in Events::new(history) {
        let thread = event.id.thread as usize;
        if event.returns {
            let Some((id, at, bit)) = open[thread].take() else { continue };
            let key = &mut keys.keys[at as usize];
            if !search.close(key, bit)? {
                let same = open.iter().flatten().filter(|(_, other, _)| *other == at);
                let others = same.map(|(id, _, _)| *id).collect();
                let states = key.configurations.iter().map(|one| &one.held);
                return Ok(Some(
                    share.failed(event, unexplained(history, cell, states, id, others)),
                ));
            }
            if share.is_beaten(event.time) {
                break;
            }
            continue;
        }
        let call = call_of(history, event.id);
        let (name, optional) = (key(call.op, call.args), call.status.is_open());
        if !share.has(name) || optional && call.op.only_reads() {
            continue;
        }
        let at = keys.at(name);
        let (effect, reads) = (Effect::from_call(&call), call.is_read());
        let bit = search.call(&mut keys.keys[at], effect, reads, optional)?;
        open[thread] = Some((event.id, at as u32, bit));
    }
    Ok(None)
}
