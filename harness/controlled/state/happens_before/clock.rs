//! Vector clocks: how far each thread is, as another one knows it.

/// So many threads of most rounds: their times lie beside each other, and are joined in a few
/// instructions.
const FEW: usize = 12;

/// How far each thread is, by its number; 0: nothing is known of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    few: [u32; FEW],
    more: Vec<u32>,
}

impl Times {
    fn is_empty(&self) -> bool {
        *self == Times::default()
    }

    #[cold]
    fn join_more(&mut self, other: &[u32]) {
        self.more.resize(self.more.len().max(other.len()), 0);
        self.more.iter_mut().zip(other).for_each(|(one, other)| *one = (*one).max(*other));
    }

    #[cold]
    fn tick_more(&mut self, place: usize) {
        self.more.resize(self.more.len().max(place + 1), 0);
        self.more[place] += 1;
    }
}

/// The time of a thread.
#[inline]
pub fn get(times: &Times, thread: usize) -> u32 {
    let more = || times.more.get(thread - FEW).copied().unwrap_or(0);
    times.few.get(thread).copied().unwrap_or_else(more)
}

#[inline]
pub fn join(into: &mut Times, other: &Times) {
    into.few.iter_mut().zip(&other.few).for_each(|(one, other)| *one = (*one).max(*other));
    if !other.more.is_empty() {
        into.join_more(&other.more);
    }
}

/// One more for the thread.
#[inline]
pub fn tick(times: &mut Times, thread: usize) {
    match times.few.get_mut(thread) {
        Some(time) => *time += 1,
        None => times.tick_more(thread - FEW),
    }
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
