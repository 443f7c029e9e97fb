//! The stores of each atomic location in modification order, and what threads have seen of them.
//!
//! A store need not be the newest one when it is made: it may come before one that its thread has
//! not seen.

use super::clock::{Clock, Times, get};
use super::words::{NONE, WORD, Words};

/// Older stores are not read any more.
const STORES_MAX: usize = 16;

/// Between the places of neighbours, so that others find room there.
const GAP: u64 = 1 << 32;

pub struct Store {
    /// Grows in modification order.
    place: u64,
    pub value: u64,
    /// What a load of it acquires.
    pub told: Clock,
    /// A read-modify-write has read it, so that nothing comes in between.
    is_updated: bool,
}

/// Who sees the store at this place has seen as much of the thread.
struct Seen {
    /// As in [`Clock::seen`].
    thread: usize,
    time: u32,
    place: u64,
}

pub struct Location {
    pub address: usize,
    pub size: usize,
    /// The next one in the same word.
    next: u32,
    /// In modification order; none: not known.
    stores: Vec<Store>,
    seen: Vec<Seen>,
}

impl Location {
    pub fn newest(&self) -> Option<&Store> {
        self.stores.last()
    }

    pub fn store(&self, at: usize) -> &Store {
        &self.stores[at]
    }

    pub fn is_newest(&self, at: usize) -> bool {
        at + 1 == self.stores.len()
    }

    /// It has this value, which all threads see.
    pub fn begin(&mut self, value: u64, told: Clock) {
        self.forget();
        self.stores.push(Store { place: GAP, value, told, is_updated: false });
    }

    pub fn forget(&mut self) {
        self.stores.clear();
        self.seen.clear();
    }

    /// The stores that who sees this may read.
    pub fn readable(&self, seen: &Times) -> std::ops::Range<usize> {
        let (mut least, newest) = (0, self.newest().map_or(0, |store| store.place));
        for of in self.seen.iter().rev() {
            if of.place > least && of.time <= get(seen, of.thread) {
                least = of.place;
            }
            if least == newest {
                break;
            }
        }
        self.stores.partition_point(|store| store.place < least)..self.stores.len()
    }

    /// Whether a store may come right behind the one at this index.
    pub fn has_room_behind(&self, at: usize) -> bool {
        let store = &self.stores[at];
        let next = self.stores.get(at + 1);
        !store.is_updated && next.is_none_or(|next| next.place - store.place > 1)
    }

    /// A thread, at its time, has made or read the store.
    pub fn note(&mut self, thread: usize, time: u32, at: usize) {
        let place = self.stores[at].place;
        match self.seen.iter_mut().rev().find(|of| of.thread == thread) {
            Some(last) if last.place >= place => {}
            Some(last) if last.time == time => last.place = place,
            _ => self.seen.push(Seen { thread, time, place }),
        }
    }

    /// A new store right behind the one at this index; gives its own.
    pub fn insert(&mut self, behind: usize, updates: bool, value: u64, told: Clock) -> usize {
        let before = self.stores[behind].place;
        self.stores[behind].is_updated |= updates;
        let next = self.stores.get(behind + 1).map(|next| next.place);
        let place = next.map_or(before + GAP, |next| before.midpoint(next));
        self.stores.insert(behind + 1, Store { place, value, told, is_updated: false });
        if self.stores.len() <= STORES_MAX {
            return behind + 1;
        }
        self.stores.remove(0);
        let oldest = self.stores[0].place;
        self.seen.retain(|of| of.place > oldest);
        behind
    }
}

/// All locations of a round. Each lies in a word, which knows the first one of its own.
#[derive(Default)]
pub struct Locations {
    /// Those of this round, and then those that are left over from earlier ones.
    locations: Vec<Location>,
    used: usize,
}

impl Locations {
    pub fn clear(&mut self) {
        self.used = 0;
    }

    pub fn all(&self) -> &[Location] {
        &self.locations[..self.used]
    }

    pub fn forget_all(&mut self) {
        self.locations[..self.used].iter_mut().for_each(Location::forget);
    }

    /// Those of a word, from its first one.
    fn from(&self, first: u32) -> impl Iterator<Item = usize> {
        let mut at = first;
        std::iter::from_fn(move || {
            let found = (at != NONE).then_some(at as usize)?;
            at = self.locations[found].next;
            Some(found)
        })
    }

    /// Those that overlap these bytes and are known.
    pub fn overlapping<T: Copy>(
        &self,
        words: &Words<T>,
        address: usize,
        size: usize,
    ) -> Vec<usize> {
        let overlaps = |at: &usize| {
            let of = &self.locations[*at];
            let is_near = of.address < address + size && address < of.address + of.size;
            is_near && !of.stores.is_empty()
        };
        if size / WORD > self.used {
            return (0..self.used).filter(overlaps).collect();
        }
        let near = (address / WORD * WORD..address + size).step_by(WORD);
        near.flat_map(|word| self.from(words.location(word))).filter(overlaps).collect()
    }

    /// The one of exactly these bytes, known or not.
    pub fn of<T: Copy>(&mut self, words: &mut Words<T>, address: usize, size: usize) -> usize {
        let first = words.location_mut(address / WORD * WORD);
        let is_it = |at: &usize| {
            let of = &self.locations[*at];
            (of.address, of.size) == (address, size)
        };
        let found = self.from(*first).find(is_it);
        found.unwrap_or_else(|| self.add(first, address, size))
    }

    #[cold]
    fn add(&mut self, first: &mut u32, address: usize, size: usize) -> usize {
        let at = self.used;
        let next = std::mem::replace(first, at as u32);
        match self.locations.get_mut(at) {
            Some(of) => {
                of.forget();
                (of.address, of.size, of.next) = (address, size, next);
            }
            None => {
                let (stores, seen) = (Vec::new(), Vec::new());
                self.locations.push(Location { address, size, next, stores, seen });
            }
        }
        self.used += 1;
        at
    }

    #[cfg(test)]
    pub fn values<T: Copy>(&mut self, words: &mut Words<T>, address: usize) -> Vec<u64> {
        let at = self.of(words, address, WORD);
        self.locations[at].stores.iter().map(|store| store.value).collect()
    }

    pub fn get(&mut self, at: usize) -> &mut Location {
        &mut self.locations[at]
    }
}
