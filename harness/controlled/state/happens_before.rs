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
//! Accesses come in the order in which they are made; a load reads what the last store wrote.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use words::Words;
pub use words::{Access, IsKnown};

mod words;

/// How far each thread is, by its number: what happens before.
type Clock = SmallVec<[u32; 8]>;

/// What a memory order means here. That all seq_cst accesses have an order orders no plain ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub acquires: bool,
    pub releases: bool,
}

impl Order {
    /// By its number in <stdatomic.h>, to which compilers may add hints; consume is acquire.
    pub fn of(number: u32) -> Order {
        let number = number & 7;
        Order { acquires: matches!(number, 1 | 2 | 4 | 5), releases: matches!(number, 3..=5) }
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

pub struct HappensBefore<T> {
    threads: Vec<Thread>,
    /// By their keys: what to take them acquires.
    objects: FxHashMap<usize, Clock>,
    words: Words<T>,
    /// Only one thread is there: whatever it does is before all that others will do.
    is_alone: bool,
}

fn get(clock: &Clock, thread: usize) -> u32 {
    clock.get(thread).copied().unwrap_or(0)
}

fn join(into: &mut Clock, other: &Clock) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    into.iter_mut().zip(other).for_each(|(one, other)| *one = (*one).max(*other));
}

impl<T: Copy> HappensBefore<T> {
    /// Races that `is_known` are not told.
    pub fn new(is_known: IsKnown<T>) -> HappensBefore<T> {
        let (threads, objects) = (Vec::new(), FxHashMap::default());
        HappensBefore { threads, objects, words: Words::new(is_known), is_alone: true }
    }

    /// Forgets all. This thread is the first.
    pub fn begin(&mut self, first: usize) {
        self.threads.clear();
        self.objects.clear();
        self.words.clear();
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
        self.threads.get(thread).is_some_and(|of| get(&of.now, thread) != 0)
    }

    /// What the thread does from now on is not before what others have learnt from it.
    fn ticks(&mut self, thread: usize) {
        let now = &mut self.thread(thread).now;
        if now.len() <= thread {
            now.resize(thread + 1, 0);
        }
        now[thread] += 1;
    }

    /// What `parent` has done is before all of `child`, which may have the number of one that has
    /// ended.
    pub fn starts(&mut self, parent: usize, child: usize) {
        let now = self.thread(parent).now.clone();
        let of = self.thread(child);
        join(&mut of.now, &now);
        (of.read, of.fence) = (Clock::new(), Clock::new());
        self.ticks(child);
        self.ticks(parent);
        self.is_alone = false;
    }

    #[inline]
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// All other threads have ended: whether they were joined, too, is seen here.
    pub fn is_left(&mut self, thread: usize) {
        let now = &self.threads[thread].now;
        let is_before = |(other, of): (usize, &Thread)| get(&of.now, other) <= get(now, other);
        self.is_alone = self.threads.iter().enumerate().all(is_before);
    }

    /// All that the other, which has ended, has done is before what this thread does from now on.
    pub fn joins(&mut self, thread: usize, ended: usize) {
        let other = self.thread(ended).now.clone();
        join(&mut self.thread(thread).now, &other);
    }

    pub fn acquires(&mut self, thread: usize, object: usize) {
        if let Some(clock) = self.objects.get(&object).cloned() {
            join(&mut self.thread(thread).now, &clock);
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
        join(self.objects.entry(object).or_default(), &now);
        self.ticks(thread);
    }

    pub fn fence(&mut self, thread: usize, order: Order) {
        let of = self.thread(thread);
        if order.acquires {
            let read = of.read.clone();
            join(&mut of.now, &read);
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
            let into = if order.acquires { &mut of.now } else { &mut of.read };
            words.acquired(address, size, into);
        }
        // What it acquires is before the access itself.
        let made = words.made(access, &of.now);
        if writes {
            let told = if order.releases { &of.now } else { &of.fence };
            words.stores(address, size, updates, told);
            if order.releases {
                self.ticks(thread);
            }
        }
        made
    }

    /// A releasing store that is no access of the target's.
    pub fn stores_byte(&mut self, thread: usize, address: usize) {
        self.words.stores(address, 1, false, &self.threads[thread].now);
        self.ticks(thread);
    }

    /// A plain access is made.
    ///
    /// # Errors
    /// The access that it races with.
    pub fn plain(&mut self, access: Access<T>) -> Result<(), Access<T>> {
        if self.is_alone {
            return Ok(());
        }
        self.words.made(access, &self.threads[usize::from(access.thread)].now)
    }

    /// The bytes are others from now on: what was done to them has no meaning for these.
    pub fn forget(&mut self, address: usize, size: usize) {
        if !self.is_alone {
            self.words.forget(address, size);
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
        self.words.frees(access, &self.threads[usize::from(access.thread)].now)
    }
}

#[cfg(test)]
mod tests;
