//! What is known of the target's memory, by words of eight bytes: the last accesses of each byte,
//! and what stores to atomic locations told.
//!
//! Most accesses of a round come here, so words are found by a table of our own: a round begins
//! with none, at no cost, and uses those of earlier rounds again.

use interlap::trace::frame::AccessKind;
use smallvec::SmallVec;

use super::clock::{Clock, Times, get};

/// Bytes that are kept together; an atomic location lies in them.
pub const WORD: usize = 8;

/// Lists of words, by their addresses: so many at first, and more where a round has many words.
const LISTS: usize = 1 << 14;
/// Words of a list, on average, at which there are more.
const LENGTH_MAX: usize = 2;

/// The end of a list.
pub const NONE: u32 = u32::MAX;

/// `told` is what is told of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access<T> {
    pub address: usize,
    pub told: T,
    pub size: u32,
    pub thread: u16,
    pub kind: AccessKind,
    pub writes: bool,
}

impl<T> Access<T> {
    fn end(&self) -> usize {
        self.address + self.size as usize
    }

    #[inline]
    pub fn is_atomic(&self) -> bool {
        self.kind == AccessKind::Atomic
    }

    /// Whether all that conflicts with the other conflicts with this one.
    #[inline]
    fn covers(&self, other: &Access<T>) -> bool {
        (self.writes || !other.writes) && (!self.is_atomic() || other.is_atomic())
    }

    #[inline]
    fn conflicts(&self, other: &Access<T>) -> bool {
        let is_safe = self.is_atomic() && other.is_atomic();
        self.thread != other.thread && (self.writes || other.writes) && !is_safe
    }
}

/// Says of two accesses that nothing orders, the earlier one first, that they are known.
pub type IsKnown<T> = fn(&Access<T>, &Access<T>) -> bool;

/// An access to some bytes of a word, bit by bit, and how far its thread was then.
#[derive(Clone, Copy)]
struct Made<T> {
    access: Access<T>,
    at: u32,
    bytes: u8,
}

/// Most accesses meet one read and one write, both before them: these look at what comes first, and
/// no further.
#[repr(C, align(64))]
struct Word<T> {
    address: usize,
    /// The next one in its list.
    next: u32,
    /// The first of its locations, where loads may read older stores.
    location: u32,
    /// The read and the write that later ones can race with.
    last: [Option<Made<T>>; 2],
    /// Whether they are more: then these are all of them.
    are_more: bool,
    more: SmallVec<[Made<T>; 4]>,
    /// Whether there are `atomics`.
    tells: bool,
    /// What a load of atomic locations in it acquires.
    atomics: SmallVec<[(u8, Clock); 1]>,
}

pub struct Words<T> {
    /// The first word of each list, where that is one of the list.
    lists: Vec<u32>,
    /// Those of this round, and then those that are left over from earlier ones.
    words: Vec<Word<T>>,
    used: usize,
    is_known: IsKnown<T>,
}

/// The words in which some bytes lie, and which bytes of each.
#[inline]
fn parts(address: usize, size: usize) -> impl Iterator<Item = (usize, u8)> {
    let end = address + size;
    let mut at = address;
    std::iter::from_fn(move || {
        let (word, first) = (at / WORD * WORD, at % WORD);
        let behind = (word + WORD).saturating_sub(end);
        let part = (at < end).then(|| (word, (u8::MAX << first) & (u8::MAX >> behind)));
        at = word + WORD;
        part
    })
}

impl<T: Copy> Words<T> {
    /// Races that `is_known` are not told.
    pub fn new(is_known: IsKnown<T>) -> Words<T> {
        Words { lists: vec![NONE; LISTS], words: Vec::new(), used: 0, is_known }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    #[inline]
    fn list_of(&self, word: usize) -> usize {
        let number = word / WORD;
        // Their number is a power of two.
        (number ^ (number / LISTS)) & (self.lists.len() - 1)
    }

    /// The first word of a list. What is there of an earlier round may be in another list now.
    #[inline]
    fn first(&self, list: usize) -> u32 {
        let first = self.lists[list];
        let used = &self.words[..self.used];
        let is_there =
            used.get(first as usize).is_some_and(|word| self.list_of(word.address) == list);
        if is_there { first } else { NONE }
    }

    #[inline(always)]
    fn place(&self, address: usize) -> Option<usize> {
        let list = self.list_of(address);
        let first = self.lists[list] as usize;
        if self.words[..self.used].get(first).is_some_and(|word| word.address == address) {
            return Some(first);
        }
        self.place_behind(self.first(list), address)
    }

    fn place_behind(&self, mut at: u32, address: usize) -> Option<usize> {
        while at != NONE && self.words[at as usize].address != address {
            at = self.words[at as usize].next;
        }
        (at != NONE).then_some(at as usize)
    }

    #[inline(always)]
    fn at(&mut self, address: usize) -> &mut Word<T> {
        let place = self.place(address).unwrap_or_else(|| self.add(address));
        &mut self.words[place]
    }

    #[cold]
    fn add(&mut self, address: usize) -> usize {
        if self.used > LENGTH_MAX * self.lists.len() {
            self.add_lists();
        }
        let (list, place) = (self.list_of(address), self.used);
        let next = self.first(list);
        match self.words.get_mut(place) {
            Some(word) => word.begin(address, next),
            None => self.words.push(Word::new(address, next)),
        }
        self.lists[list] = place as u32;
        self.used += 1;
        place
    }

    fn add_lists(&mut self) {
        self.lists = vec![NONE; 4 * self.lists.len()];
        for place in 0..self.used {
            let list = self.list_of(self.words[place].address);
            self.words[place].next = std::mem::replace(&mut self.lists[list], place as u32);
        }
    }

    fn get(&self, address: usize) -> Option<&Word<T>> {
        self.place(address).map(|at| &self.words[at])
    }

    /// The first location of the word at this address.
    pub fn location(&self, address: usize) -> u32 {
        self.get(address).map_or(NONE, |word| word.location)
    }

    pub fn location_mut(&mut self, address: usize) -> &mut u32 {
        &mut self.at(address).location
    }

    /// A load of these bytes acquires what was told of them.
    #[inline]
    pub fn acquired(&self, address: usize, size: usize, into: &mut Clock) {
        for (word, bytes) in parts(address, size) {
            let told = self.get(word).filter(|word| word.tells);
            let atomics = told.map_or(&[][..], |word| &word.atomics);
            let overlapping = atomics.iter().filter(|(of, _)| of & bytes != 0);
            overlapping.for_each(|(_, clock)| into.join(clock));
        }
    }

    /// A store to an atomic location tells this. One that updates goes on with what was told.
    #[inline]
    pub fn stores(&mut self, address: usize, size: usize, updates: bool, told: &Clock) {
        for (word, bytes) in parts(address, size) {
            self.at(word).stores(bytes, updates, told);
        }
    }

    /// The access is made by a thread that knows of all until `now`.
    ///
    /// # Errors
    /// The access that it races with.
    #[inline(always)]
    pub fn made(&mut self, access: Access<T>, now: &Times) -> Result<(), Access<T>> {
        let is_known = self.is_known;
        let (offset, size) = (access.address % WORD, access.size as usize);
        if (1..=WORD - offset).contains(&size) {
            let bytes = u8::MAX >> (WORD - size) << offset;
            return self.at(access.address - offset).made(access, bytes, now, is_known);
        }
        let mut found = Ok(());
        for (word, bytes) in parts(access.address, size) {
            found = found.and(self.at(word).made(access, bytes, now, is_known));
        }
        found
    }

    /// The bytes are others from now on.
    pub fn forget(&mut self, address: usize, size: usize) {
        let end = address + size;
        if size / WORD <= self.used {
            for (word, bytes) in parts(address, size) {
                if let Some(at) = self.place(word) {
                    self.words[at].forget(bytes);
                }
            }
            return;
        }
        for word in &mut self.words[..self.used] {
            let (from, to) = (address.max(word.address), end.min(word.address + WORD));
            if from < to {
                parts(from, to - from).for_each(|(_, bytes)| word.forget(bytes));
            }
        }
    }

    /// A block is freed by a thread that knows of all until `now`.
    ///
    /// # Errors
    /// The access that it races with.
    pub fn frees(&self, access: Access<T>, now: &Times) -> Result<(), Access<T>> {
        let races = |made: &&Made<T>| {
            let other = &made.access;
            let overlaps = other.address < access.end() && access.address < other.end();
            overlaps && made.races(&access, now, self.is_known)
        };
        let size = access.size as usize;
        let found = if size / WORD <= self.used {
            let near = parts(access.address, size);
            near.filter_map(|(word, _)| self.get(word)).flat_map(Word::all).find(races)
        } else {
            // In the order of addresses, as above.
            let all = self.words[..self.used].iter().flat_map(Word::all);
            all.filter(races).min_by_key(|made| (made.access.address, made.access.thread))
        };
        found.map_or(Ok(()), |made| Err(made.access))
    }
}

impl<T: Copy> Made<T> {
    #[inline]
    fn is_before(&self, now: &Times) -> bool {
        self.at <= get(now, self.access.thread.into())
    }

    /// Whether it is of all bytes of the other one, and conflicts with all that the other does.
    #[inline]
    fn covers(&self, other: &Made<T>) -> bool {
        other.bytes & !self.bytes == 0 && self.access.covers(&other.access)
    }

    /// Whether whoever races with the later one races with this one: nobody has learnt of what its
    /// thread did since.
    #[inline]
    fn says_all_of(&self, later: &Made<T>) -> bool {
        self.access.thread == later.access.thread && self.at == later.at && self.covers(later)
    }

    #[inline]
    fn races(&self, later: &Access<T>, now: &Times, is_known: IsKnown<T>) -> bool {
        self.access.conflicts(later) && !self.is_before(now) && !is_known(&self.access, later)
    }
}

impl<T: Copy> Word<T> {
    fn new(address: usize, next: u32) -> Word<T> {
        let (last, more, atomics) = ([None; 2], SmallVec::new(), SmallVec::new());
        let (are_more, tells, location) = (false, false, NONE);
        Word { address, next, location, last, are_more, more, tells, atomics }
    }

    /// Is another word of another round from now on.
    fn begin(&mut self, address: usize, next: u32) {
        (self.address, self.next, self.location) = (address, next, NONE);
        self.forget(u8::MAX);
    }

    /// The accesses that later ones can race with.
    fn all(&self) -> impl Iterator<Item = &Made<T>> {
        self.more.iter().chain(self.last.iter().flatten())
    }

    fn forget(&mut self, bytes: u8) {
        for last in &mut self.last {
            last.take_if(|last| last.bytes & bytes != 0);
        }
        if self.are_more {
            self.more.retain(|made| made.bytes & bytes == 0);
            self.are_more = !self.more.is_empty();
        }
        if self.tells {
            self.forget_told(bytes);
        }
    }

    /// Whatever was told by stores to these bytes is no longer there.
    fn forget_told(&mut self, bytes: u8) {
        self.atomics.retain(|(of, _)| *of & bytes == 0);
        self.tells = !self.atomics.is_empty();
    }

    #[inline(always)]
    fn made(
        &mut self,
        access: Access<T>,
        bytes: u8,
        now: &Times,
        is_known: IsKnown<T>,
    ) -> Result<(), Access<T>> {
        let made = Made { access, bytes, at: get(now, access.thread.into()) };
        if self.tells && access.writes && !access.is_atomic() {
            self.forget_told(bytes);
        }
        if !self.are_more && self.is_last(&made, now) {
            return Ok(());
        }
        self.made_beside_others(made, now, is_known)
    }

    /// Whether all that it meets is before it, and one read and one write are left: then it is one.
    #[inline(always)]
    fn is_last(&mut self, made: &Made<T>, now: &Times) -> bool {
        let [read, written] = &mut self.last;
        let (same, other) = if made.access.writes { (written, read) } else { (read, written) };
        let is_before = |of: &Made<T>| of.is_before(now);
        if !other.as_ref().is_none_or(is_before) || !same.as_ref().is_none_or(is_before) {
            return false;
        }
        if same.as_ref().is_some_and(|same| same.says_all_of(made)) {
            return true;
        }
        if !same.as_ref().is_none_or(|same| made.covers(same)) {
            return false;
        }
        other.take_if(|other| made.covers(other));
        *same = Some(*made);
        true
    }

    #[inline(never)]
    fn made_beside_others(
        &mut self,
        made: Made<T>,
        now: &Times,
        is_known: IsKnown<T>,
    ) -> Result<(), Access<T>> {
        for last in &mut self.last {
            if let Some(last) = last.take() {
                self.more.push(last);
            }
        }
        let (mut found, mut place) = (Ok(()), 0);
        while let Some(earlier) = self.more.get(place) {
            let stays = if earlier.bytes & made.bytes == 0 {
                true
            } else if earlier.says_all_of(&made) {
                self.put_back();
                return found;
            } else if earlier.races(&made.access, now, is_known) {
                found = found.and(Err(earlier.access));
                true
            } else {
                // Whoever races with what is left out races with this one, too.
                !(earlier.is_before(now) && made.covers(earlier))
            };
            if stays {
                place += 1;
            } else {
                self.more.swap_remove(place);
            }
        }
        self.more.push(made);
        self.put_back();
        found
    }

    /// Where no more than one read and one write are left, they are looked at first again.
    fn put_back(&mut self) {
        let are_few = match &self.more[..] {
            [_] => true,
            [one, other] => one.access.writes != other.access.writes,
            _ => false,
        };
        if are_few {
            while let Some(made) = self.more.pop() {
                self.last[usize::from(made.access.writes)] = Some(made);
            }
        }
        self.are_more = !are_few;
    }

    fn stores(&mut self, bytes: u8, updates: bool, told: &Clock) {
        let atomics = &mut self.atomics;
        if !updates {
            atomics.retain(|(of, _)| *of & !bytes != 0);
        }
        match atomics.iter_mut().find(|(of, _)| *of == bytes) {
            Some((_, clock)) if updates => clock.join(told),
            Some((_, clock)) => clock.clone_from(told),
            None if told.is_empty() => {}
            None => atomics.push((bytes, told.clone())),
        }
        self.tells = !self.atomics.is_empty();
    }
}
