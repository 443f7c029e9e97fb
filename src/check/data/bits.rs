//! Sets of small numbers, a bit each: the places of open steps.

/// Bits of a word.
pub const WORD: usize = u64::BITS as usize;

/// The numbers in a word, lowest first.
pub fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(place)
    })
}

/// A set of numbers below 64 times its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Places<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Places<WORDS> {
    pub const EMPTY: Places<WORDS> = Places([0; WORDS]);

    #[inline]
    fn with(self, other: Places<WORDS>, word: impl Fn(u64, u64) -> u64) -> Places<WORDS> {
        Places(std::array::from_fn(|at| word(self.0[at], other.0[at])))
    }

    #[inline]
    pub fn without(self, others: Places<WORDS>) -> Places<WORDS> {
        self.with(others, |one, other| one & !other)
    }

    #[inline]
    pub fn among(self, others: Places<WORDS>) -> Places<WORDS> {
        self.with(others, |one, other| one & other)
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self == Places::EMPTY
    }

    #[inline]
    pub fn is_subset(self, others: Places<WORDS>) -> bool {
        self.without(others).is_empty()
    }

    #[inline]
    pub fn is_disjoint(self, others: Places<WORDS>) -> bool {
        self.among(others).is_empty()
    }

    #[inline]
    pub fn contains(self, place: usize) -> bool {
        self.0[place / WORD] >> (place % WORD) & 1 == 1
    }

    #[inline]
    pub fn insert(&mut self, place: usize) {
        self.0[place / WORD] |= 1 << (place % WORD);
    }

    pub fn len(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The lowest number that is not in it.
    #[inline]
    pub fn first_free(self) -> Option<usize> {
        let at = self.0.iter().position(|word| *word != !0)?;
        Some(WORD * at + (!self.0[at]).trailing_zeros() as usize)
    }

    /// Lowest first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..WORDS).flat_map(move |at| bits(self.0[at]).map(move |bit| WORD * at + bit))
    }
}

impl<const WORDS: usize> FromIterator<usize> for Places<WORDS> {
    fn from_iter<I: IntoIterator<Item = usize>>(all: I) -> Places<WORDS> {
        let mut places = Places::EMPTY;
        all.into_iter().for_each(|place| places.insert(place));
        places
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::core::random::Random;

    #[test]
    fn a_set_of_places_is_one_of_numbers() {
        let mut random = Random::new(5);
        let mut draw = || {
            let count = random.below(9);
            (0..count).map(|_| random.below(192) as usize).collect::<BTreeSet<usize>>()
        };
        for _ in 0..2_000 {
            let (one, other) = (draw(), draw());
            let places = |all: &BTreeSet<usize>| all.iter().copied().collect::<Places<3>>();
            let (ones, others) = (places(&one), places(&other));
            assert_eq!(ones.iter().collect::<Vec<_>>(), one.iter().copied().collect::<Vec<_>>());
            assert_eq!(ones.len(), one.len());
            assert_eq!(ones.is_subset(others), one.is_subset(&other));
            assert_eq!(ones.is_disjoint(others), one.is_disjoint(&other));
            assert_eq!(ones.first_free(), (0..).find(|place| !one.contains(place)));
            assert_eq!(ones.without(others), places(&one.difference(&other).copied().collect()));
            assert_eq!(ones.among(others), places(&one.intersection(&other).copied().collect()));
        }
        assert_eq!((0..64).collect::<Places<2>>().first_free(), Some(64));
        assert_eq!((0..64).collect::<Places<1>>().first_free(), None);
    }
}
