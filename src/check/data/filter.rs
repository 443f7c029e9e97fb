//! Finds the items of a slice that pass a test, in order. It notes 64 results at a time without a
//! branch, because a branch that cannot be predicted costs more than the test: half of a queue's
//! calls are dequeues, in no pattern.

pub struct Passing<'a, T, F> {
    slice: &'a [T],
    test: F,
    /// Where the 64 items begin, and those of them that pass and are still to come.
    from: usize,
    passed: u64,
    /// Where the next ones begin.
    to: usize,
}

/// The items of `slice` that pass `test`, and their places.
#[inline]
pub fn passing<T, F: FnMut(&T) -> bool>(slice: &[T], test: F) -> Passing<'_, T, F> {
    Passing { slice, test, from: 0, passed: 0, to: 0 }
}

impl<T, F: FnMut(&T) -> bool> Passing<'_, T, F> {
    /// Notes which of the next items pass; says whether there were any to look at.
    fn refill(&mut self) -> bool {
        let items = &self.slice[self.to..self.slice.len().min(self.to + 64)];
        self.from = self.to;
        self.to += items.len();
        for (at, item) in items.iter().enumerate() {
            self.passed |= u64::from((self.test)(item)) << at;
        }
        !items.is_empty()
    }
}

impl<'a, T, F: FnMut(&T) -> bool> Iterator for Passing<'a, T, F> {
    type Item = (usize, &'a T);

    #[inline]
    fn next(&mut self) -> Option<(usize, &'a T)> {
        while self.passed == 0 {
            if !self.refill() {
                return None;
            }
        }
        let at = self.from + self.passed.trailing_zeros() as usize;
        self.passed &= self.passed - 1;
        Some((at, &self.slice[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random::Random;

    #[test]
    fn as_a_filter() {
        for len in 0..300 {
            let mut random = Random::new(len);
            let items: Vec<u64> = (0..len).map(|_| random.below(3)).collect();
            let plain = items.iter().enumerate().filter(|(_, item)| **item == 1);
            assert!(passing(&items, |item| *item == 1).eq(plain));
        }
    }
}
