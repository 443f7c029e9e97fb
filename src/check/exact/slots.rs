//! Finds the first free one of many slots in a row. Slots are only ever taken.
//!
//! A bit per slot; words without a free one are chained to the next that may have one, and the
//! chains are shortened whenever they are followed (union-find: Gabow and Tarjan 1985). So either
//! request takes next to no time, and the whole little more than a bit per slot.

use crate::check::data::small::Few;

/// Slots of a word.
const WORD: usize = 64;

pub struct Slots {
    /// By word: a bit for each slot that is taken.
    taken: Few<u64>,
    /// By word: itself while it may have a free slot, else a later word.
    next: Few<u32>,
}

/// The bits from `from` on, `to` excluded.
fn bits(from: usize, to: usize) -> u64 {
    (!0 << from) & (!0 >> (WORD - to))
}

impl Slots {
    /// `count` free slots; below that no slot counts.
    pub fn new(count: usize) -> Slots {
        // The last word is never full, so that every chain ends.
        let words = count / WORD + 1;
        Slots { taken: Few::from_elem(0, words), next: (0..words as u32).collect() }
    }

    /// The first word from `word` on that may have a free slot.
    fn open(&mut self, word: usize) -> usize {
        let mut end = word;
        while self.next[end] as usize != end {
            end = self.next[end] as usize;
        }
        let mut at = word;
        while at != end {
            at = std::mem::replace(&mut self.next[at], end as u32) as usize;
        }
        end
    }

    fn take_in_word(&mut self, word: usize, bits: u64) {
        self.taken[word] |= bits;
        if self.taken[word] == !0 && word + 1 < self.next.len() {
            self.next[word] = word as u32 + 1;
        }
    }

    /// Takes the slots from `from` on, `to` excluded.
    pub fn take(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let (first, last) = (from / WORD, (to - 1) / WORD);
        let end = to - last * WORD;
        if first == last {
            return self.take_in_word(first, bits(from % WORD, end));
        }
        self.take_in_word(first, bits(from % WORD, WORD));
        let mut word = self.open(first + 1);
        while word < last {
            self.take_in_word(word, !0);
            word = self.open(word + 1);
        }
        self.take_in_word(last, bits(0, end));
    }

    /// Whether a slot from `from` on, `to` excluded, is free.
    pub fn any_free(&mut self, from: usize, to: usize) -> bool {
        if from >= to {
            return false;
        }
        let word = from / WORD;
        let free = !self.taken[word] & (!0 << (from % WORD));
        if free != 0 {
            return word * WORD + (free.trailing_zeros() as usize) < to;
        }
        let last = (to - 1) / WORD;
        if word == last {
            return false;
        }
        let word = self.open(word + 1);
        word < last
            || word == last && word * WORD + (self.taken[word].trailing_ones() as usize) < to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random::Random;

    #[test]
    fn as_a_plain_list_of_bits() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let count = 1 + random.below(1000) as usize;
            let (mut slots, mut plain) = (Slots::new(count), vec![false; count]);
            let span = |random: &mut Random| {
                let from = random.below(count as u64) as usize;
                (
                    from,
                    (from + random.below(if seed % 2 == 0 { 300 } else { 20 }) as usize).min(count),
                )
            };
            for _ in 0..100 {
                let (from, to) = span(&mut random);
                slots.take(from, to);
                plain[from..to].fill(true);
                let (from, to) = span(&mut random);
                assert_eq!(slots.any_free(from, to), plain[from..to].contains(&false));
            }
            assert_eq!(slots.any_free(0, count), plain.contains(&false));
        }
    }
}
