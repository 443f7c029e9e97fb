//! Two trees over a line of segments. One holds how many values cover each segment and finds a
//! segment that none covers; the other holds intervals and takes out all that contain a given
//! segment. Both in logarithmic time.
//!
//! A tree's leaf stands for a block of segments or intervals, which is searched from end to end:
//! like that a tree takes hardly more memory than what it finds.

use crate::check::data::small::{Few, Small};

/// Above any coverage that occurs.
const TAKEN: i32 = i32::MAX / 2;
/// Segments or intervals of a leaf.
const BLOCK: usize = 32;

/// A count per segment: adds to a range, finds a zero.
pub struct Coverage {
    leaves: usize,
    /// By segment, without what is added to its block or above.
    counts: Small<i32>,
    /// By node: the least count below it, what is added to all of the node included.
    least: Few<i32>,
    /// By node: what is added to all below it.
    added: Few<i32>,
}

impl Coverage {
    pub fn new(counts: Small<i32>) -> Coverage {
        let leaves = counts.len().div_ceil(BLOCK).next_power_of_two();
        let mut least = Few::from_elem(TAKEN, 2 * leaves);
        for (leaf, block) in counts.chunks(BLOCK).enumerate() {
            least[leaves + leaf] = lowest(block);
        }
        for node in (1..leaves).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Coverage { leaves, counts, least, added: Few::from_elem(0, 2 * leaves) }
    }

    /// Adds `by` to the segments from `from`, `to` excluded.
    pub fn add(&mut self, from: usize, to: usize, by: i32) {
        if from >= to {
            return;
        }
        let (first, last) = (from / BLOCK, (to - 1) / BLOCK);
        if first == last {
            self.add_in_block(first, from, to, by);
        } else {
            self.add_in_block(first, from, (first + 1) * BLOCK, by);
            self.add_in_block(last, last * BLOCK, to, by);
        }
        // What lies between the two paths to the root hangs off them, to the right of the one and
        // to the left of the other.
        let (mut low, mut high) = (first + self.leaves, last + self.leaves);
        while low / 2 != high / 2 {
            if low % 2 == 0 {
                self.add_to_node(low + 1, by);
            }
            if high % 2 == 1 {
                self.add_to_node(high - 1, by);
            }
            (low, high) = (low / 2, high / 2);
            self.refresh(low);
            self.refresh(high);
        }
        self.refresh_above(low);
    }

    #[inline]
    fn add_to_node(&mut self, node: usize, by: i32) {
        self.least[node] += by;
        self.added[node] += by;
    }

    #[inline]
    fn add_in_block(&mut self, block: usize, from: usize, to: usize, by: i32) {
        self.counts[from..to].iter_mut().for_each(|count| *count += by);
        self.refresh_leaf(block);
    }

    #[inline]
    fn refresh_leaf(&mut self, block: usize) {
        let end = ((block + 1) * BLOCK).min(self.counts.len());
        let node = block + self.leaves;
        self.least[node] = lowest(&self.counts[block * BLOCK..end]) + self.added[node];
    }

    #[inline]
    fn refresh(&mut self, node: usize) {
        let below = self.least[2 * node].min(self.least[2 * node + 1]);
        self.least[node] = below + self.added[node];
    }

    #[inline]
    fn refresh_above(&mut self, mut node: usize) {
        while node > 1 {
            node /= 2;
            self.refresh(node);
        }
    }

    /// Passes on some segments whose count is zero, if there are any: all of one block. They will
    /// not be found again.
    pub fn take_zeros(&mut self, found: &mut impl FnMut(usize)) -> bool {
        if self.least[1] != 0 {
            return false;
        }
        let (mut node, mut wanted) = (1, 0);
        while node < self.leaves {
            wanted -= self.added[node];
            node *= 2;
            if self.least[node] != wanted {
                node += 1;
            }
        }
        wanted -= self.added[node];
        let block = node - self.leaves;
        let from = block * BLOCK;
        let to = self.counts.len().min(from + BLOCK);
        for segment in from..to {
            if self.counts[segment] == wanted {
                self.counts[segment] = TAKEN;
                found(segment);
            }
        }
        self.refresh_leaf(block);
        self.refresh_above(node);
        true
    }
}

#[inline]
fn lowest(counts: &[i32]) -> i32 {
    counts.iter().fold(TAKEN, |least, count| least.min(*count))
}

/// Intervals of segments, ends included: takes out those that contain a segment.
pub struct Stabbing {
    leaves: usize,
    /// The intervals' numbers in the order of their starts.
    sorted: Small<u32>,
    /// In that order: one more than the interval's end; 0 where it is taken out.
    ends: Small<u32>,
    /// By node: the latest of the ends below it.
    latest: Few<u32>,
    /// By segment: how many intervals start in it or before.
    started: Small<u32>,
}

impl Stabbing {
    /// Intervals are numbered in the order in which they come.
    pub fn new(intervals: impl Iterator<Item = (u32, u32)> + Clone, segments: usize) -> Stabbing {
        let mut started = Small::from_elem(0u32, segments);
        for (start, _) in intervals.clone() {
            started[start as usize] += 1;
        }
        let mut count = 0;
        for segment in &mut started {
            (*segment, count) = (count, count + *segment);
        }
        let (mut sorted, mut ends) =
            (Small::from_elem(0, count as usize), Small::from_elem(0, count as usize));
        for (number, (start, end)) in intervals.enumerate() {
            // Moves from how many start before the segment to how many do not start after it.
            let at = &mut started[start as usize];
            sorted[*at as usize] = number as u32;
            ends[*at as usize] = end + 1;
            *at += 1;
        }
        let leaves = ends.len().div_ceil(BLOCK).next_power_of_two();
        let mut latest = Few::from_elem(0, 2 * leaves);
        for (leaf, block) in ends.chunks(BLOCK).enumerate() {
            latest[leaves + leaf] = highest(block);
        }
        for node in (1..leaves).rev() {
            latest[node] = latest[2 * node].max(latest[2 * node + 1]);
        }
        Stabbing { leaves, sorted, ends, latest, started }
    }

    /// Takes out every interval that contains `segment` and passes its number on.
    pub fn take(&mut self, segment: u32, found: &mut impl FnMut(u32)) {
        let started = self.started[segment as usize] as usize;
        self.descend(1, 0, self.leaves, started, segment, found);
    }

    /// Below `node` lie the blocks from `low`, `high` excluded; only the first `started` intervals
    /// start early enough.
    fn descend(
        &mut self,
        node: usize,
        low: usize,
        high: usize,
        started: usize,
        segment: u32,
        found: &mut impl FnMut(u32),
    ) {
        if low * BLOCK >= started || self.latest[node] <= segment {
            return;
        }
        if high - low == 1 {
            self.take_in_block(low, started, segment, found);
            return;
        }
        let middle = low.midpoint(high);
        self.descend(2 * node, low, middle, started, segment, found);
        self.descend(2 * node + 1, middle, high, started, segment, found);
        self.latest[node] = self.latest[2 * node].max(self.latest[2 * node + 1]);
    }

    fn take_in_block(
        &mut self,
        block: usize,
        started: usize,
        segment: u32,
        found: &mut impl FnMut(u32),
    ) {
        let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(self.ends.len()));
        let (ends, numbers) = (&mut self.ends[from..to], &self.sorted[from..to]);
        for (end, number) in ends.iter_mut().zip(numbers).take(started - from) {
            if *end > segment {
                *end = 0;
                found(*number);
            }
        }
        self.latest[self.leaves + block] = highest(ends);
    }
}

#[inline]
fn highest(ends: &[u32]) -> u32 {
    ends.iter().fold(0, |latest, end| latest.max(*end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random::Random;

    #[test]
    fn coverage_is_that_of_a_plain_array() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let len = random.between(1, 300) as usize;
            let mut plain: Vec<i32> = (0..len).map(|_| random.between(0, 3) as i32).collect();
            let mut coverage = Coverage::new(plain.clone().into());
            for _ in 0..300 {
                let from = random.between(0, len as u64 - 1) as usize;
                let to = random.between(from as u64, len as u64) as usize;
                let by = if plain[from..to].contains(&0) { 1 } else { -1 };
                coverage.add(from, to, by);
                plain[from..to].iter_mut().for_each(|count| *count += by);
                let mut found = Vec::new();
                assert_eq!(coverage.take_zeros(&mut |at| found.push(at)), plain.contains(&0));
                for at in found {
                    // As good as never found again.
                    assert_eq!(std::mem::replace(&mut plain[at], 1_000_000), 0);
                }
            }
        }
    }

    #[test]
    fn stabbing_takes_what_a_search_of_all_takes() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let segments = random.between(1, 200) as u32;
            let mut plain: Vec<(u32, u32)> = Vec::new();
            for _ in 0..random.between(0, 300) {
                let start = random.between(0, u64::from(segments) - 1);
                plain.push((start as u32, random.between(start, u64::from(segments) - 1) as u32));
            }
            let mut stabbing = Stabbing::new(plain.iter().copied(), segments as usize);
            let mut there = vec![true; plain.len()];
            for _ in 0..100 {
                let segment = random.between(0, u64::from(segments) - 1) as u32;
                let mut found = Vec::new();
                stabbing.take(segment, &mut |number| found.push(number as usize));
                found.sort_unstable();
                let hit = |at: &usize| plain[*at].0 <= segment && segment <= plain[*at].1;
                let all: Vec<usize> =
                    (0..plain.len()).filter(|at| there[*at]).filter(hit).collect();
                assert_eq!(found, all);
                all.into_iter().for_each(|at| there[at] = false);
            }
        }
    }
}
