//! Estimates how many distinct hashes a run has seen, in all and recently.

use std::collections::VecDeque;
use std::time::Duration;

/// Bits of a [`Sketch`]: 8 MiB, good for some hundred million distinct hashes.
const BITS: u64 = 1 << 26;

/// The period that counts as recent.
pub const RECENT: Duration = Duration::from_secs(10);
/// Time between two marks of a [`Recent`].
const MARK: Duration = Duration::from_millis(500);

/// Counts distinct hashes by linear counting (Whang, Vander-Zanden and Taylor, ACM TODS 15(2),
/// 1990): with `s` of `m` bits set there were about `-m ln(1 - s/m)` of them. The sum is computed
/// bit by bit, each counting `m / (m - s)`, so that every insertion has its own share.
#[derive(Default)]
pub struct Sketch {
    /// Allocated with the first hash, because not every run has any.
    bits: Vec<u64>,
    set: u64,
}

impl Sketch {
    /// Adds a hash. Returns how many distinct hashes it represents: 0 if its bit was already set.
    #[inline]
    pub fn insert(&mut self, hash: u64) -> f64 {
        if self.bits.is_empty() {
            self.bits = vec![0; (BITS / 64) as usize];
        }
        let at = hash % BITS;
        let (word, mask) = (&mut self.bits[(at / 64) as usize], 1 << (at % 64));
        if *word & mask != 0 {
            return 0.0;
        }
        *word |= mask;
        let weight = BITS as f64 / (BITS - self.set) as f64;
        self.set += 1;
        weight
    }
}

/// A growing count, and its growth within the last [`RECENT`].
#[derive(Default)]
pub struct Recent {
    marks: VecDeque<(Duration, f64)>,
}

impl Recent {
    /// Takes the count at an instant. Returns its growth within the last [`RECENT`]; none while the
    /// run is younger than that.
    pub fn mark(&mut self, now: Duration, count: f64) -> Option<f64> {
        let is_due = |last: &(Duration, f64)| now >= last.0 + MARK;
        if self.marks.back().is_none_or(is_due) {
            self.marks.push_back((now, count));
        }
        let since = now.checked_sub(RECENT)?;
        while self.marks.len() > 1 && self.marks[1].0 <= since {
            self.marks.pop_front();
        }
        self.marks.front().map(|(_, before)| count - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random::mix;

    #[test]
    fn distinct_hashes_are_counted_within_a_percent() {
        let mut sketch = Sketch::default();
        let mut count = 0.0;
        for round in 0..3_000_000u64 {
            count += sketch.insert(mix(round % 1_000_000));
        }
        assert!((count - 1e6f64).abs() < 1e4, "{count}");
    }

    #[test]
    fn only_the_last_ten_seconds_are_recent() {
        let mut recent = Recent::default();
        let mut at =
            |tenths: u64, count: f64| recent.mark(Duration::from_millis(tenths * 100), count);
        assert_eq!(at(0, 0.0), None);
        assert_eq!(at(50, 5.0), None);
        assert_eq!(at(100, 8.0), Some(8.0));
        assert_eq!(at(160, 9.0), Some(4.0));
        assert_eq!(at(400, 9.0), Some(0.0));
    }
}
