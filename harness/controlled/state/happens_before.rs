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

/// How far each thread is, by its number: what happens before.
type Clock = SmallVec<[u32; 8]>;

/// Bytes that are kept together.
const WORD: usize = 8;

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

/// `told` is what is told of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access<T> {
    pub thread: usize,
    pub address: usize,
    pub size: usize,
    pub is_atomic: bool,
    pub writes: bool,
    pub told: T,
}

impl<T> Access<T> {
    fn end(&self) -> usize {
        self.address + self.size
    }

    /// Whether all that conflicts with the other conflicts with this one.
    fn covers(&self, other: &Access<T>) -> bool {
        match (self.is_atomic, self.writes) {
            (false, true) => true,
            (false, false) => !other.writes,
            (true, true) => other.is_atomic,
            (true, false) => other.is_atomic && !other.writes,
        }
    }

    fn conflicts(&self, other: &Access<T>) -> bool {
        let is_safe = self.is_atomic && other.is_atomic;
        self.thread != other.thread && (self.writes || other.writes) && !is_safe
    }
}

/// An access to some bytes of a word, bit by bit, and how far its thread was then.
struct Made<T> {
    access: Access<T>,
    bytes: u8,
    at: u32,
}

struct Word<T> {
    /// The last ones of each kind that later ones can race with.
    made: SmallVec<[Made<T>; 2]>,
    /// What a load of atomic locations in it acquires.
    atomics: SmallVec<[(u8, Clock); 1]>,
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
    /// By their addresses.
    words: FxHashMap<usize, Word<T>>,
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

/// The words in which some bytes lie, and which bytes of each.
fn words(address: usize, size: usize) -> impl Iterator<Item = (usize, u8)> {
    let end = address + size;
    (address / WORD * WORD..end).step_by(WORD).map(move |word| {
        let (first, last) = (address.max(word) - word, end.min(word + WORD) - word);
        (word, (u8::MAX << first) & (u8::MAX >> (WORD - last)))
    })
}

impl<T: Copy> HappensBefore<T> {
    pub fn new() -> HappensBefore<T> {
        let (objects, words) = (FxHashMap::default(), FxHashMap::default());
        HappensBefore { threads: Vec::new(), objects, words }
    }

    /// Forgets all. This thread is the first.
    pub fn begin(&mut self, first: usize) {
        self.threads.clear();
        self.objects.clear();
        self.words.clear();
        self.ticks(first);
    }

    fn thread(&mut self, thread: usize) -> &mut Thread {
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, Thread::default());
        }
        &mut self.threads[thread]
    }

    /// Whether it was started.
    pub fn knows(&self, thread: usize) -> bool {
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
        let Access { thread, address, size, writes, .. } = access;
        if !writes || updates {
            let read = self.released_at(address, size);
            let of = self.thread(thread);
            join(if order.acquires { &mut of.now } else { &mut of.read }, &read);
        }
        // What it acquires is before the access itself.
        self.made(access)?;
        if writes {
            let of = self.thread(thread);
            let told = if order.releases { of.now.clone() } else { of.fence.clone() };
            for (word, bytes) in words(address, size) {
                self.stores(word, bytes, updates, &told);
            }
            if order.releases {
                self.ticks(thread);
            }
        }
        Ok(())
    }

    /// A releasing store that is no access of the target's.
    pub fn stores_byte(&mut self, thread: usize, address: usize) {
        let now = self.thread(thread).now.clone();
        for (word, bytes) in words(address, 1) {
            self.stores(word, bytes, false, &now);
        }
        self.ticks(thread);
    }

    /// What a load of these bytes would acquire.
    fn released_at(&self, address: usize, size: usize) -> Clock {
        let mut all = Clock::new();
        for (word, bytes) in words(address, size) {
            let atomics = self.words.get(&word).map_or(&[][..], |word| &word.atomics);
            let overlapping = atomics.iter().filter(|(of, _)| of & bytes != 0);
            overlapping.for_each(|(_, clock)| join(&mut all, clock));
        }
        all
    }

    /// A store to an atomic location tells this. One that updates goes on with what was told.
    fn stores(&mut self, word: usize, bytes: u8, updates: bool, told: &Clock) {
        let atomics = &mut self.words.entry(word).or_default().atomics;
        if !updates {
            atomics.retain(|(of, _)| *of & !bytes != 0);
        }
        match atomics.iter_mut().find(|(of, _)| *of == bytes) {
            Some((_, clock)) if updates => join(clock, told),
            Some((_, clock)) => clock.clone_from(told),
            None if told.is_empty() => {}
            None => atomics.push((bytes, told.clone())),
        }
    }

    /// A plain access is made.
    ///
    /// # Errors
    /// The access that it races with.
    pub fn plain(&mut self, access: Access<T>) -> Result<(), Access<T>> {
        self.made(access)?;
        if access.writes {
            // Whatever was told by stores that it overwrites is no longer there.
            for (word, bytes) in words(access.address, access.size) {
                let atomics = &mut self.words.entry(word).or_default().atomics;
                atomics.retain(|(of, _)| *of & bytes == 0);
            }
        }
        Ok(())
    }

    fn made(&mut self, access: Access<T>) -> Result<(), Access<T>> {
        let now = &self.threads[access.thread].now;
        let at = get(now, access.thread);
        for (word, bytes) in words(access.address, access.size) {
            let made = &mut self.words.entry(word).or_default().made;
            let is_before = |made: &Made<T>| made.at <= get(now, made.access.thread);
            let races = |made: &&Made<T>| {
                made.bytes & bytes != 0 && made.access.conflicts(&access) && !is_before(made)
            };
            if let Some(first) = made.iter().find(races) {
                return Err(first.access);
            }
            // Whoever races with what is left out races with this one, too.
            made.retain(|made| {
                made.bytes & !bytes != 0 || !is_before(made) || !access.covers(&made.access)
            });
            made.push(Made { access, bytes, at });
        }
        Ok(())
    }

    /// The bytes are others from now on: what was done to them has no meaning for these.
    pub fn forget(&mut self, address: usize, size: usize) {
        let end = address + size;
        if size / WORD > self.words.len() {
            self.words.retain(|word, _| *word + WORD <= address || *word >= end);
            return;
        }
        for (word, bytes) in words(address, size) {
            let Some(of) = self.words.get_mut(&word) else { continue };
            of.made.retain(|made| made.bytes & bytes == 0);
            of.atomics.retain(|(of, _)| *of & bytes == 0);
        }
    }

    /// A block is freed, which is a write of all of it.
    ///
    /// # Errors
    /// The access that it races with.
    pub fn frees(&mut self, access: Access<T>) -> Result<(), Access<T>> {
        let now = &self.threads[access.thread].now;
        let races = |made: &&Made<T>| {
            let other = &made.access;
            let overlaps = other.address < access.end() && access.address < other.end();
            overlaps && access.conflicts(other) && made.at > get(now, other.thread)
        };
        let is_long = access.size / WORD > self.words.len();
        let found = if is_long {
            // In the order of addresses, so that it is the same in each process.
            let all = self.words.values().flat_map(|word| &word.made);
            all.filter(races).min_by_key(|made| (made.access.address, made.access.thread))
        } else {
            let near = words(access.address, access.size);
            near.filter_map(|(word, _)| self.words.get(&word)).flat_map(|of| &of.made).find(races)
        };
        found.map_or(Ok(()), |made| Err(made.access))
    }
}

impl<T> Default for Word<T> {
    fn default() -> Word<T> {
        Word { made: SmallVec::new(), atomics: SmallVec::new() }
    }
}

#[cfg(test)]
mod tests;
