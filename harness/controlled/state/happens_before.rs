//! Finds data races: two accesses of the same byte by two threads, one of them a write and one of
//! them plain, neither of which happens before the other, as C++ defines that ([intro.races], with
//! the release sequences of C++20).
//!
//! Each thread has a vector clock, and so has what synchronises: an atomic location by the stores
//! that a load of it would synchronise with, an object by the threads that released it. Sources:
//! Flanagan, Freund: FastTrack, efficient and precise dynamic race detection, PLDI 2009, of which
//! the epochs are taken; Lahav and others: Repairing sequential consistency in C/C++11, PLDI 2017,
//! for fences.
//!
//! Accesses come in the order in which they are made. A load reads what the last store wrote, but
//! for the rounds of `weak`.

use rustc_hash::FxHashMap;

use clock::{Clock, get, seen_as, tick};
use weak::Weak;
pub use weak::{Found, Stored};
use words::Words;
pub use words::{Access, IsKnown};

mod clock;
mod modification_order;
mod weak;
mod words;

/// What a memory order means here. That all seq_cst accesses have an order orders no plain ones,
/// so only `weak` looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub acquires: bool,
    pub releases: bool,
    pub is_seq_cst: bool,
}

impl Order {
    /// By its number in <stdatomic.h>, to which compilers may add hints; consume is acquire.
    pub fn of(number: u32) -> Order {
        let number = number & 7;
        let (acquires, releases) = (matches!(number, 1 | 2 | 4 | 5), matches!(number, 3..=5));
        Order { acquires, releases, is_seq_cst: number == 5 }
    }
}

#[derive(Clone, Default)]
struct Thread {
    now: Clock,
    /// What its relaxed loads have read from: a fence acquires it.
    read: Clock,
    /// What was before its last fence that releases.
    fence: Clock,
}

impl Thread {
    /// Where goes what a load with this order reads of others.
    fn acquires(&mut self, order: Order) -> &mut Clock {
        if order.acquires { &mut self.now } else { &mut self.read }
    }

    /// What a store with this order tells.
    fn tells(&self, order: Order) -> &Clock {
        if order.releases { &self.now } else { &self.fence }
    }
}

pub struct HappensBefore<T> {
    threads: Vec<Thread>,
    /// By their keys: what to take them acquires.
    objects: FxHashMap<usize, Clock>,
    words: Words<T>,
    /// In rounds where loads may read older stores.
    weak: Option<Weak>,
    /// Only one thread is there: whatever it does is before all that others will do.
    is_alone: bool,
}

impl<T: Copy> HappensBefore<T> {
    /// Races that `is_known` are not told.
    pub fn new(is_known: IsKnown<T>) -> HappensBefore<T> {
        let (threads, objects) = (Vec::new(), FxHashMap::default());
        let words = Words::new(is_known);
        HappensBefore { threads, objects, words, weak: None, is_alone: true }
    }

    /// Forgets all. This thread is the first. `weak`: loads may read older stores.
    pub fn begin(&mut self, first: usize, weak: bool) {
        self.threads.clear();
        self.objects.clear();
        self.words.clear();
        match (&mut self.weak, weak) {
            (Some(old), true) => old.clear(),
            (old, _) => *old = weak.then(Weak::default),
        }
        self.ticks(first);
        self.is_alone = true;
    }

    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, Thread::default());
        }
        &mut self.threads[thread]
    }

    /// Whether it was started.
    fn knows(&self, thread: usize) -> bool {
        self.threads.get(thread).is_some_and(|of| get(&of.now.before, thread) != 0)
    }

    /// What the thread does from now on is not before what others have learnt from it.
    fn ticks(&mut self, thread: usize) {
        let is_weak = self.weak.is_some();
        let now = &mut self.thread(thread).now;
        tick(&mut now.before, thread);
        if is_weak {
            tick(&mut now.seen, seen_as(thread));
        }
    }

    /// What `parent` has done is before all of `child`, which may have the number of one that has
    /// ended.
    pub fn starts(&mut self, parent: usize, child: usize) {
        let now = self.thread(parent).now.clone();
        let of = self.thread(child);
        of.now.join(&now);
        (of.read, of.fence) = (Clock::default(), Clock::default());
        self.ticks(child);
        self.ticks(parent);
        if self.is_alone {
            // What a thread does alone is not noted.
            self.weak.iter_mut().for_each(Weak::forget_all);
        }
        self.is_alone = false;
    }

    #[inline]
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// All other threads have ended: whether they were joined, too, is seen here.
    pub fn is_left(&mut self, thread: usize) {
        let now = &self.threads[thread].now.before;
        let is_before =
            |(other, of): (usize, &Thread)| get(&of.now.before, other) <= get(now, other);
        self.is_alone = self.threads.iter().enumerate().all(is_before);
    }

    /// All that the other, which has ended, has done is before what this thread does from now on.
    pub fn joins(&mut self, thread: usize, ended: usize) {
        let other = self.thread(ended).now.clone();
        self.thread(thread).now.join(&other);
    }

    pub fn acquires(&mut self, thread: usize, object: usize) {
        if let Some(clock) = self.objects.get(&object).cloned() {
            self.thread(thread).now.join(&clock);
        }
    }

    /// All that others have done is before what this thread does from now on.
    pub fn acquires_all(&mut self, thread: usize) {
        for other in 0..self.threads.len() {
            if other != thread && self.knows(other) {
                self.joins(thread, other);
                self.ticks(other);
            }
        }
    }

    /// The same, and all that it has done is before what others do from now on.
    pub fn meets_all(&mut self, thread: usize) {
        self.acquires_all(thread);
        for other in 0..self.threads.len() {
            if other != thread && self.knows(other) {
                self.joins(other, thread);
            }
        }
        self.ticks(thread);
    }

    pub fn releases(&mut self, thread: usize, object: usize) {
        let now = self.thread(thread).now.clone();
        self.objects.entry(object).or_default().join(&now);
        self.ticks(thread);
    }

    pub fn fence(&mut self, thread: usize, order: Order) {
        self.thread(thread);
        let of = &mut self.threads[thread];
        if order.acquires {
            of.now.join(&of.read);
        }
        if let Some(weak) = self.weak.as_mut().filter(|_| order.is_seq_cst) {
            weak.fence(&mut of.now.seen);
        }
        if order.releases {
            of.fence = of.now.clone();
            self.ticks(thread);
        }
    }

    /// An atomic access was made. `updates`: it has read what it then wrote over.
    ///
    /// # Errors
    /// The access that it races with.
    pub fn atomic(
        &mut self,
        access: Access<T>,
        updates: bool,
        order: Order,
    ) -> Result<(), Access<T>> {
        if self.is_alone {
            return Ok(());
        }
        let Access { address, writes, .. } = access;
        let (thread, size) = (usize::from(access.thread), access.size as usize);
        let words = &mut self.words;
        let of = &mut self.threads[thread];
        if !writes || updates {
            words.acquired(address, size, of.acquires(order));
        }
        // What it acquires is before the access itself.
        let made = words.made(access, &of.now.before);
        if writes {
            words.stores(address, size, updates, of.tells(order));
            if order.releases {
                self.ticks(thread);
            }
        }
        made
    }

    /// A releasing store that is no access of the target's.
    pub fn stores_byte(&mut self, thread: usize, address: usize) {
        self.words.stores(address, 1, false, &self.threads[thread].now);
        self.weak.iter_mut().for_each(|weak| weak.forget(&self.words, address, 1));
        self.ticks(thread);
    }

    /// A plain access is made.
    ///
    /// # Errors
    /// The access that it races with.
    #[inline(always)]
    pub fn plain(&mut self, access: Access<T>) -> Result<(), Access<T>> {
        if self.is_alone {
            return Ok(());
        }
        self.words.made(access, &self.threads[usize::from(access.thread)].now.before)
    }

    /// A plain write is about to change the bytes: what atomic accesses have stored there, nobody
    /// reads any more.
    pub fn overwrites(&mut self, address: usize, size: usize) {
        self.weak.iter_mut().for_each(|weak| weak.forget(&self.words, address, size));
    }

    /// The bytes are others from now on: what was done to them has no meaning for these.
    pub fn forget(&mut self, address: usize, size: usize) {
        if !self.is_alone {
            self.words.forget(address, size);
            self.weak.iter_mut().for_each(|weak| weak.forget(&self.words, address, size));
        }
    }

    /// A block is freed, which is a write of all of it.
    ///
    /// # Errors
    /// The access that it races with.
    pub fn frees(&mut self, access: Access<T>) -> Result<(), Access<T>> {
        if self.is_alone {
            return Ok(());
        }
        self.words.frees(access, &self.threads[usize::from(access.thread)].now.before)
    }
}

#[cfg(test)]
mod tests;
