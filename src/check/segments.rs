//! Two trees over a line of segments. One holds how many values cover each segment and finds one
//! that none covers; the other holds intervals and takes out all that contain a given segment. Both
//! in logarithmic time. They do not know what values and intervals stand for.

/// Above any coverage that occurs.
const TAKEN: i32 = i32::MAX / 2;

/// A count per segment: adds to a range, finds a zero.
pub struct Coverage {
    leaves: usize,
    /// By node: the least count below it, what is added to all of the node included.
    least: Vec<i32>,
    /// By inner node: what is added to all below it.
    added: Vec<i32>,
}

impl Coverage {
    pub fn new(counts: &[i32]) -> Coverage {
        let leaves = counts.len().next_power_of_two();
        let mut least = vec![TAKEN; 2 * leaves];
        least[leaves..leaves + counts.len()].copy_from_slice(counts);
        for node in (1..leaves).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Coverage { leaves, least, added: vec![0; leaves] }
    }

    #[inline]
    fn change(&mut self, node: usize, by: i32) {
        self.least[node] += by;
        if node < self.leaves {
            self.added[node] += by;
        }
    }

    #[inline]
    fn refresh_above(&mut self, mut node: usize) {
        while node > 1 {
            node /= 2;
            let below = self.least[2 * node].min(self.least[2 * node + 1]);
            self.least[node] = below + self.added[node];
        }
    }

    /// Adds `by` to the segments from `from`, `to` excluded.
    pub fn add(&mut self, from: usize, to: usize, by: i32) {
        if from >= to {
            return;
        }
        let (mut low, mut high) = (from + self.leaves, to + self.leaves);
        while low < high {
            if low % 2 == 1 {
                self.change(low, by);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                self.change(high, by);
            }
            low /= 2;
            high /= 2;
        }
        self.refresh_above(from + self.leaves);
        self.refresh_above(to - 1 + self.leaves);
    }

    /// The first segment whose count is zero. It will not be found again.
    pub fn take_zero(&mut self) -> Option<usize> {
        if self.least[1] != 0 {
            return None;
        }
        let (mut node, mut wanted) = (1, 0);
        while node < self.leaves {
            wanted -= self.added[node];
            node *= 2;
            if self.least[node] != wanted {
                node += 1;
            }
        }
        self.least[node] = TAKEN;
        self.refresh_above(node);
        Some(node - self.leaves)
    }
}

/// Intervals of segments, ends included: takes out those that contain a segment.
pub struct Stabbing {
    leaves: usize,
    /// By node: one more than the latest end below it; 0 where none is left.
    latest: Vec<u32>,
    /// The intervals' numbers in the order of their starts: the leaves.
    sorted: Vec<u32>,
    /// By segment: how many intervals start before it.
    starts: Vec<u32>,
}

impl Stabbing {
    /// Intervals are numbered in the order in which they come.
    pub fn new(intervals: impl Iterator<Item = (u32, u32)> + Clone, segments: usize) -> Stabbing {
        let mut starts = vec![0u32; segments + 1];
        let mut count = 0;
        for (start, _) in intervals.clone() {
            starts[start as usize + 1] += 1;
            count += 1;
        }
        for segment in 0..segments {
            starts[segment + 1] += starts[segment];
        }
        let leaves = usize::next_power_of_two(count);
        let (mut sorted, mut latest) = (vec![0; count], vec![0; 2 * leaves]);
        let mut next = starts.clone();
        for (number, (start, end)) in intervals.enumerate() {
            let at = &mut next[start as usize];
            sorted[*at as usize] = number as u32;
            latest[leaves + *at as usize] = end + 1;
            *at += 1;
        }
        for node in (1..leaves).rev() {
            latest[node] = latest[2 * node].max(latest[2 * node + 1]);
        }
        Stabbing { leaves, latest, sorted, starts }
    }

    /// Takes out every interval that contains `segment` and passes its number on.
    pub fn take(&mut self, segment: u32, found: &mut impl FnMut(u32)) {
        let end = self.starts[segment as usize + 1] as usize;
        self.descend(1, 0, self.leaves, end, segment, found);
    }

    /// Below `node` lie the leaves from `low`, `high` excluded; only those before `end` start
    /// early enough.
    fn descend(
        &mut self,
        node: usize,
        low: usize,
        high: usize,
        end: usize,
        segment: u32,
        found: &mut impl FnMut(u32),
    ) {
        if low >= end || self.latest[node] <= segment {
            return;
        }
        if high - low == 1 {
            self.latest[node] = 0;
            found(self.sorted[low]);
            return;
        }
        let middle = low.midpoint(high);
        self.descend(2 * node, low, middle, end, segment, found);
        self.descend(2 * node + 1, middle, high, end, segment, found);
        self.latest[node] = self.latest[2 * node].max(self.latest[2 * node + 1]);
    }
}
