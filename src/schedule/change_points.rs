//! Draws change points: random decisions of a round at which a policy deviates.
//! The number of decisions of a round is known only at its end, but its number of operations is
//! known at the start. So each point is drawn as the end of an operation plus some decisions, about
//! as many as the operations so far took on average: no round has to run twice to know its length.

use super::RoundSize;
use crate::core::random::Random;

/// The estimate of the decisions per operation starts with one operation of this length, which is
/// that of operations of lock-free queues.
const LENGTH_GUESSED: u64 = 8;

#[derive(Clone, Debug)]
pub struct ChangePoints {
    random: Random,
    /// Points whose operation has not ended: the operations that end before each, and its number.
    /// The next one is last.
    later: Vec<(u64, u32)>,
    /// Points whose decision is drawn: the decision, and the point's number. The next one is last.
    near: Vec<(u64, u32)>,
    /// Decisions so far between several threads.
    decisions: u64,
    /// Operations that have ended.
    ended: u64,
}

impl ChangePoints {
    pub fn new(count: u32, size: &RoundSize, mut random: Random) -> ChangePoints {
        // The thread that ends last runs alone at the end, when there is nothing to decide.
        let last = size.operations / size.threads.max(1) as u64;
        let among = (size.operations - last).max(1);
        let mut later: Vec<_> = (0..count).map(|number| (random.below(among), number)).collect();
        later.sort_unstable_by(|a, b| b.cmp(a));
        let near = Vec::with_capacity(later.len());
        let mut points = ChangePoints { random, later, near, decisions: 0, ended: 0 };
        points.draw_decisions();
        points
    }

    /// Points uniformly among the first `decisions`.
    #[cfg(test)]
    pub fn uniform(count: u32, decisions: u64, mut random: Random) -> ChangePoints {
        let mut near: Vec<_> = (0..count).map(|n| (1 + random.below(decisions), n)).collect();
        near.sort_unstable_by(|a, b| b.cmp(a));
        ChangePoints { random, later: Vec::new(), near, decisions: 0, ended: 0 }
    }

    /// Counts decisions that were made.
    #[inline]
    pub fn pass(&mut self, decisions: u64) {
        self.decisions += decisions;
    }

    /// Whether the last decision was a change point.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.near.last().is_some_and(|(at, _)| *at <= self.decisions)
    }

    /// Removes a point that is due and returns its number.
    pub fn take(&mut self) -> Option<u32> {
        if self.is_due() { self.near.pop().map(|(_, number)| number) } else { None }
    }

    /// Decisions before the next point, as long as no operation ends.
    #[inline]
    pub fn decided_ahead(&self) -> u64 {
        let next = self.near.last().map_or(u64::MAX, |(at, _)| *at);
        next.saturating_sub(self.decisions + 1)
    }

    pub fn operation_ended(&mut self) {
        self.ended += 1;
        self.draw_decisions();
    }

    /// Draws the decisions of the points whose operation has ended. Some are drawn beyond the
    /// average length of an operation, so that every decision of a long operation can be a point.
    fn draw_decisions(&mut self) {
        while let Some(&(_, number)) = self.later.last().filter(|(end, _)| *end <= self.ended) {
            self.later.pop();
            let length = (self.decisions + LENGTH_GUESSED) / (self.ended + 1);
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

    /// Every decision is about equally likely to be a point, even if operations differ in length.
    #[test]
    fn change_points_are_spread_over_all_decisions() {
        // Operations alternate between 3 and 21 decisions.
        let lengths = [3u64, 21, 3, 21, 3, 21, 3, 21, 3, 21, 3, 21];
        let size = RoundSize { threads: 4, operations: 16 };
        let decisions: u64 = lengths.iter().sum();
        let (rounds, mut hits) = (100_000u64, vec![0u64; decisions as usize]);
        for seed in 0..rounds {
            let mut points = ChangePoints::new(1, &size, Random::new(seed));
            for length in lengths {
                for _ in 0..length {
                    points.pass(1);
                    if points.take().is_some() {
                        hits[points.decisions as usize - 1] += 1;
                    }
                }
                points.operation_ended();
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
    fn every_point_becomes_due_once() {
        let size = RoundSize { threads: 2, operations: 40 };
        for seed in 0..100 {
            let mut points = ChangePoints::new(20, &size, Random::new(seed));
            let mut taken = Vec::new();
            for decision in 1..2000 {
                let ahead = points.decided_ahead();
                points.pass(1);
                assert_eq!(points.is_due(), ahead == 0);
                while let Some(number) = points.take() {
                    taken.push(number);
                }
                if decision % 10 == 0 {
                    points.operation_ended();
                }
            }
            taken.sort_unstable();
            assert_eq!(taken, (0..20).collect::<Vec<u32>>());
        }
    }
}
