//! Vector clocks: how far each thread is, as another one knows it.

use smallvec::SmallVec;

/// How far each thread is, by its number.
pub type Times = SmallVec<[u32; 8]>;

/// The time of a thread; 0: nothing is known of it.
#[inline]
pub fn get(times: &Times, thread: usize) -> u32 {
    times.get(thread).copied().unwrap_or(0)
}

#[inline]
pub fn join(into: &mut Times, other: &Times) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    into.iter_mut().zip(other).for_each(|(one, other)| *one = (*one).max(*other));
}

/// One more for the thread.
#[inline]
pub fn tick(times: &mut Times, thread: usize) {
    if times.len() <= thread {
        times.resize(thread + 1, 0);
    }
    times[thread] += 1;
}

/// What is before a point of an execution.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// What happens before it.
    pub before: Times,
    /// Of which accesses it sees all effects, in the rounds where loads may read older stores: of
    /// all that happen before, and of more where a seq_cst fence or a call came in between. By
    /// [`seen_as`] the numbers of threads.
    pub seen: Times,
}

/// The place in [`Clock::seen`] of what all seq_cst accesses have done.
pub const SEQ_CST: usize = 0;

/// The place of a thread in [`Clock::seen`].
pub const fn seen_as(thread: usize) -> usize {
    thread + 1
}

impl Clock {
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        join(&mut self.before, &other.before);
        join(&mut self.seen, &other.seen);
    }

    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.seen.is_empty()
    }
}
