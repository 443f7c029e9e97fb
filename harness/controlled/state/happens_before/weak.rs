//! Atomic accesses in the rounds where a load may read any store that C++ allows: any that is not
//! hidden from its thread by a newer one that it has seen, as C++20 and RC11 define that. Sources:
//! Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential consistency in C/C++11, PLDI 2017
//! (RC11); Kang and others: A promising semantics for relaxed-memory concurrency, POPL 2017, for
//! the views, here of vector clocks; C++20, [atomics.order].
//!
//! The order of all seq_cst accesses and fences is that in which they are made. A load never reads
//! what is stored later, so what needs that (load buffering) does not occur; as in RC11, where
//! program order and reads-from have no cycle.
//!
//! [`Clock::seen`] says what hides older stores. Calls of the structure come one after the other in
//! real time: what one has seen or stored, those that begin after its end see, too. That orders
//! nothing else: whatever races without it still races.

use smallvec::SmallVec;

use super::clock::{Clock, SEQ_CST, Times, get, join, seen_as, tick};
use super::modification_order::Locations;
use super::words::{WORD, Words};
use super::{Access, HappensBefore, Order};

/// Picks one of so many, of which the last is what a sequentially consistent memory does.
pub type Choose<'a> = &'a mut dyn FnMut(usize) -> usize;

/// What an access has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub value: u64,
    /// What memory has instead, if an older store is read.
    pub hides: Option<u64>,
}

/// What a store has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Memory is to have its value.
    Newest,
    /// It comes before a store that was made earlier, and which memory keeps.
    Overwritten,
}

#[derive(Default)]
pub struct Weak {
    locations: Locations,
    /// What seq_cst fences have seen; of [`SEQ_CST`], how many seq_cst accesses there were.
    ordered: Times,
    /// What calls have seen that have ended.
    ended: Times,
    /// The store that a read-modify-write under way has read: its location and index.
    read: Option<(usize, usize)>,
}

impl Weak {
    pub fn clear(&mut self) {
        self.locations.clear();
        self.ordered = Times::default();
        self.ended = Times::default();
    }

    pub fn forget<T: Copy>(&mut self, words: &Words<T>, address: usize, size: usize) {
        for at in self.locations.overlapping(words, address, size) {
            self.locations.get(at).forget();
        }
    }

    pub fn forget_all(&mut self) {
        self.locations.forget_all();
    }

    /// A seq_cst fence of a thread that sees this.
    pub fn fence(&mut self, seen: &mut Times) {
        join(&mut self.ordered, seen);
        join(seen, &self.ordered);
    }

    /// A thread has made or read the store.
    fn note(&mut self, location: usize, at: usize, (thread, seen): (usize, &Times), by: Order) {
        let of = self.locations.get(location);
        of.note(seen_as(thread), get(seen, seen_as(thread)), at);
        if by.is_seq_cst {
            tick(&mut self.ordered, SEQ_CST);
            of.note(SEQ_CST, get(&self.ordered, SEQ_CST), at);
        }
    }
}

impl<T: Copy> HappensBefore<T> {
    /// Whether loads may read older stores now.
    #[inline]
    pub fn is_weak(&self) -> bool {
        self.weak.is_some() && !self.is_alone
    }

    fn of_weak(&mut self) -> &mut Weak {
        self.weak.as_mut().expect("the round is one with older stores")
    }

    /// The location of these bytes, which has this value in memory.
    fn location(&mut self, address: usize, size: usize, memory: u64) -> usize {
        let mut was_unseen = false;
        let weak = self.weak.as_mut().expect("the round is one with older stores");
        let at = weak.locations.of(&mut self.words, address, size);
        if weak.locations.get(at).newest().is_some_and(|newest| newest.value == memory) {
            return at;
        }
        for other in weak.locations.overlapping(&self.words, address, size) {
            let of = weak.locations.get(other);
            if other == at {
                // Code without hooks has stored: by whatever orders that.
                was_unseen = true;
            } else if let Some(newest) = of.newest() {
                self.words.stores(of.address, of.size, false, &newest.told);
            }
            of.forget();
        }
        let mut told = Clock::default();
        match was_unseen {
            true => self.threads.iter().for_each(|of| told.join(&of.now)),
            false => self.words.acquired(address, size, &mut told),
        }
        self.of_weak().locations.get(at).begin(memory, told);
        at
    }

    /// The stores that the thread may read.
    fn readable(&mut self, thread: usize, by: Order, location: usize) -> std::ops::Range<usize> {
        let weak = self.weak.as_mut().expect("the round is one with older stores");
        let seen = &self.threads[thread].now.seen;
        if !by.is_seq_cst {
            return weak.locations.get(location).readable(seen);
        }
        let mut seen = seen.clone();
        join(&mut seen, &weak.ordered);
        weak.locations.get(location).readable(&seen)
    }

    /// The thread reads the store.
    fn reads(&mut self, thread: usize, by: Order, location: usize, at: usize) -> Found {
        let weak = self.weak.as_mut().expect("the round is one with older stores");
        let of = &mut self.threads[thread];
        let stores = weak.locations.get(location);
        let (store, is_newest) = (stores.store(at), stores.is_newest(at));
        let hides = stores.newest().filter(|_| !is_newest).map(|newest| newest.value);
        let found = Found { value: store.value, hides };
        of.acquires(by).join(&store.told);
        weak.note(location, at, (thread, &of.now.seen), by);
        found
    }

    fn made(&mut self, access: Access<T>) -> Result<(), Access<T>> {
        self.words.made(access, &self.threads[usize::from(access.thread)].now.before)
    }

    /// A load, of memory with this value.
    pub fn loads(
        &mut self,
        access: Access<T>,
        by: Order,
        memory: u64,
        choose: Choose,
    ) -> (Found, Result<(), Access<T>>) {
        let thread = usize::from(access.thread);
        let location = self.location(access.address, access.size as usize, memory);
        let stores = self.readable(thread, by, location);
        let at = stores.start + choose(stores.len());
        let found = self.reads(thread, by, location, at);
        (found, self.made(access))
    }

    /// A store, to memory with this value.
    pub fn stores(
        &mut self,
        access: Access<T>,
        by: Order,
        (memory, value): (u64, u64),
        choose: Choose,
    ) -> (Stored, Result<(), Access<T>>) {
        let thread = usize::from(access.thread);
        let location = self.location(access.address, access.size as usize, memory);
        let newer_than = self.readable(thread, by, location);
        let of = self.of_weak().locations.get(location);
        let places = newer_than.filter(|at| of.has_room_behind(*at));
        let places: SmallVec<[usize; 16]> = places.collect();
        let behind = places[choose(places.len())];
        self.writes(access, by, (location, behind), (value, false))
    }

    fn writes(
        &mut self,
        access: Access<T>,
        by: Order,
        (location, behind): (usize, usize),
        (value, updates): (u64, bool),
    ) -> (Stored, Result<(), Access<T>>) {
        let thread = usize::from(access.thread);
        let made = self.made(access);
        let weak = self.weak.as_mut().expect("the round is one with older stores");
        let of = &self.threads[thread];
        let mut told = of.tells(by).clone();
        if updates {
            told.join(&weak.locations.get(location).store(behind).told);
        }
        let at = weak.locations.get(location).insert(behind, updates, value, told);
        weak.note(location, at, (thread, &of.now.seen), by);
        let is_newest = weak.locations.get(location).is_newest(at);
        if by.releases {
            self.ticks(thread);
        }
        (if is_newest { Stored::Newest } else { Stored::Overwritten }, made)
    }

    /// A read-modify-write reads memory with this value; [`HappensBefore::ends_update`] is next.
    pub fn begins_update(
        &mut self,
        access: Access<T>,
        by: Order,
        memory: u64,
        choose: Choose,
    ) -> Found {
        let thread = usize::from(access.thread);
        let location = self.location(access.address, access.size as usize, memory);
        let stores = self.readable(thread, by, location);
        let of = self.of_weak().locations.get(location);
        let free: SmallVec<[usize; 16]> = stores.filter(|at| of.has_room_behind(*at)).collect();
        let at = free[choose(free.len())];
        self.of_weak().read = Some((location, at));
        self.reads(thread, by, location, at)
    }

    /// And stores this.
    pub fn ends_update(
        &mut self,
        access: Access<T>,
        by: Order,
        value: u64,
    ) -> (Stored, Result<(), Access<T>>) {
        let read = self.of_weak().read.take().expect("a read-modify-write is under way");
        self.writes(access, by, read, (value, true))
    }

    /// A compare-exchange, of memory with this value. If it has found what it expects,
    /// [`HappensBefore::ends_update`] is next; else it has failed. `fails`: it does so whatever it
    /// finds.
    pub fn compares(
        &mut self,
        access: Access<T>,
        (by, failed): (Order, Order),
        (memory, expected): (u64, u64),
        fails: bool,
        choose: Choose,
    ) -> (Found, bool, Result<(), Access<T>>) {
        let thread = usize::from(access.thread);
        let location = self.location(access.address, access.size as usize, memory);
        // Whether it fails is not known yet: what it reads, both orders allow.
        let of_both = Order { is_seq_cst: by.is_seq_cst || failed.is_seq_cst, ..by };
        let stores = self.readable(thread, of_both, location);
        let of = self.of_weak().locations.get(location);
        let can = |at: &usize| fails || of.store(*at).value != expected || of.has_room_behind(*at);
        let picks: SmallVec<[usize; 16]> = stores.filter(can).collect();
        let at = picks[choose(picks.len())];
        let succeeds = of.store(at).value == expected && !fails;
        if succeeds {
            self.of_weak().read = Some((location, at));
            return (self.reads(thread, by, location, at), true, Ok(()));
        }
        let found = self.reads(thread, failed, location, at);
        let access = Access { writes: false, ..access };
        (found, false, self.made(access))
    }

    /// Words of 8 bytes were read or written atomically in one step, which is always that of the
    /// newest stores; memory had and has these values.
    pub fn updates_words(
        &mut self,
        access: Access<T>,
        by: Order,
        words: [(u64, u64); 2],
    ) -> Result<(), Access<T>> {
        let mut raced = Ok(());
        for (number, (before, after)) in words.into_iter().enumerate() {
            let access = Access { address: access.address + number * WORD, size: 8, ..access };
            let mut newest = |count: usize| count - 1;
            let made = if access.writes {
                self.begins_update(access, by, before, &mut newest);
                self.ends_update(access, by, after).1
            } else {
                self.loads(access, by, before, &mut newest).1
            };
            raced = raced.and(made);
        }
        raced
    }

    /// A call of the structure begins or ends.
    pub fn meets_calls(&mut self, thread: usize) {
        self.thread(thread);
        if let Some(weak) = &mut self.weak {
            let seen = &mut self.threads[thread].now.seen;
            join(&mut weak.ended, seen);
            join(seen, &weak.ended);
            tick(seen, seen_as(thread));
        }
    }

    /// The values of a location in modification order.
    #[cfg(test)]
    fn modifications(&mut self, address: usize) -> Vec<u64> {
        let weak = self.weak.as_mut().expect("the round is one with older stores");
        weak.locations.values(&mut self.words, address)
    }

    /// Loads read the last store from now on.
    pub fn ends_weak(&mut self) {
        for of in self.weak.take().iter().flat_map(|weak| weak.locations.all()) {
            if let Some(newest) = of.newest() {
                self.words.stores(of.address, of.size, false, &newest.told);
            }
        }
    }

    /// All threads see all stores that were made.
    pub fn see_all(&mut self) {
        if self.weak.is_none() {
            return;
        }
        let mut all = Times::default();
        self.threads.iter().for_each(|of| join(&mut all, &of.now.seen));
        for (thread, of) in self.threads.iter_mut().enumerate() {
            of.now.seen.clone_from(&all);
            tick(&mut of.now.seen, seen_as(thread));
        }
    }
}

#[cfg(test)]
mod graph;
#[cfg(test)]
mod litmus;
#[cfg(test)]
mod program;
#[cfg(test)]
mod tests;
