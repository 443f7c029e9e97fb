//! Places: random decisions of a round at which a policy does something out of turn, as likely
//! early as late. In come how many, and the round's operations; out go those that are due. How many
//! decisions a round has shows only at its end, but not how many operations: each place is drawn as
//! the end of one of them, and some decisions more, as many as operations took on average until
//! then. So no round has to be run twice to know its length.

use super::Outlook;
use crate::core::random::Random;

/// Decisions that an operation is taken to need before any has ended, and that one with such a
/// length is added to those that have: what operations of lock-free queues need.
const GUESSED: u64 = 8;

#[derive(Clone, Debug)]
pub struct Places {
    random: Random,
    /// How many operations end before each, and its number; the next one is last.
    later: Vec<(u64, u32)>,
    /// The decision of each that is near, and its number; the next one is last.
    near: Vec<(u64, u32)>,
    /// Decisions so far at which there was a choice.
    decisions: u64,
    /// Operations that have ended.
    ended: u64,
}

impl Places {
    pub fn new(count: u32, outlook: &Outlook, mut random: Random) -> Places {
        // The thread that ends last is alone then: nothing is decided any more.
        let last = outlook.operations / outlook.threads.max(1) as u64;
        let among = (outlook.operations - last).max(1);
        let mut later: Vec<_> = (0..count).map(|number| (random.below(among), number)).collect();
        later.sort_unstable_by(|a, b| b.cmp(a));
        let near = Vec::with_capacity(later.len());
        let mut places = Places { random, later, near, decisions: 0, ended: 0 };
        places.approach();
        places
    }

    /// Any of the first `decisions`, all equally likely.
    #[cfg(test)]
    pub fn uniform(count: u32, decisions: u64, mut random: Random) -> Places {
        let mut near: Vec<_> = (0..count).map(|n| (1 + random.below(decisions), n)).collect();
        near.sort_unstable_by(|a, b| b.cmp(a));
        Places { random, later: Vec::new(), near, decisions: 0, ended: 0 }
    }

    /// So many decisions were made.
    #[inline]
    pub fn pass(&mut self, decisions: u64) {
        self.decisions += decisions;
    }

    /// Whether the last decision was one of them.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.near.last().is_some_and(|(at, _)| *at <= self.decisions)
    }

    /// The number of one that is due.
    pub fn take(&mut self) -> Option<u32> {
        if self.is_due() { self.near.pop().map(|(_, number)| number) } else { None }
    }

    /// Decisions before the next one, as long as no operation ends.
    #[inline]
    pub fn quiet(&self) -> u64 {
        let next = self.near.last().map_or(u64::MAX, |(at, _)| *at);
        next.saturating_sub(self.decisions + 1)
    }

    pub fn operation_ended(&mut self) {
        self.ended += 1;
        self.approach();
    }

    /// Places those that come after the operations that have ended. Operations are of all lengths,
    /// and none of their decisions may be out of reach: some places are farther than the average.
    fn approach(&mut self) {
        while let Some(&(_, number)) = self.later.last().filter(|(end, _)| *end <= self.ended) {
            self.later.pop();
            let length = (self.decisions + GUESSED) / (self.ended + 1);
            let within = length.max(1) << self.random.below(4);
            let at = self.decisions + 1 + self.random.below(within);
            let before = self.near.partition_point(|near| *near > (at, number));
            self.near.insert(before, (at, number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every decision has about its share of the places, however unlike the operations are.
    #[test]
    fn places_are_anywhere() {
        // Operations of 3 and of 21 decisions, in turn.
        let lengths = [3u64, 21, 3, 21, 3, 21, 3, 21, 3, 21, 3, 21];
        let outlook = Outlook { threads: 4, operations: 16 };
        let decisions: u64 = lengths.iter().sum();
        let (rounds, mut hits) = (100_000u64, vec![0u64; decisions as usize]);
        for seed in 0..rounds {
            let mut places = Places::new(1, &outlook, Random::new(seed));
            for length in lengths {
                for _ in 0..length {
                    places.pass(1);
                    if places.take().is_some() {
                        hits[places.decisions as usize - 1] += 1;
                    }
                }
                places.operation_ended();
            }
        }
        let share = rounds / decisions;
        for (at, count) in hits.iter().enumerate() {
            assert!(*count > share / 6, "decision {at}: {count} of {share}, {hits:?}");
            assert!(*count < share * 3, "decision {at}: {count} of {share}, {hits:?}");
        }
        let all: u64 = hits.iter().sum();
        assert!(all > rounds * 3 / 4, "{all} of {rounds}");
    }

    #[test]
    fn all_are_taken_in_their_order() {
        let outlook = Outlook { threads: 2, operations: 40 };
        for seed in 0..100 {
            let mut places = Places::new(20, &outlook, Random::new(seed));
            let mut taken = Vec::new();
            for decision in 1..2000 {
                let quiet = places.quiet();
                places.pass(1);
                assert_eq!(places.is_due(), quiet == 0);
                while let Some(number) = places.take() {
                    taken.push(number);
                }
                if decision % 10 == 0 {
                    places.operation_ended();
                }
            }
            taken.sort_unstable();
            assert_eq!(taken, (0..20).collect::<Vec<u32>>());
        }
    }
}
