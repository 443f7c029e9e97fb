//! Lists and maps that take no memory of their own while they are short. A fuzzer judges tens of
//! thousands of short histories a second, and asking for memory costs more than to judge one.

use std::hash::Hash;

use smallvec::SmallVec;

use rustc_hash::FxHashMap;

/// Something for each thread, or for each of what is open at once.
pub type Few<T> = SmallVec<[T; 8]>;

/// Something for each operation of a short history.
pub type Small<T> = SmallVec<[T; SMALL]>;

/// Operations of a short history.
pub const SMALL: usize = 64;

/// A map that is looked through from end to end while it is short.
pub struct SmallMap<K, V> {
    short: Small<(K, V)>,
    /// All, once they are too many for that.
    long: FxHashMap<K, V>,
}

impl<K: Copy + Eq + Hash, V: Copy> SmallMap<K, V> {
    pub fn new() -> Self {
        SmallMap { short: Small::new(), long: FxHashMap::default() }
    }

    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    #[inline]
    pub fn get(&self, key: &K) -> Option<V> {
        if self.long.is_empty() {
            return self.short.iter().find(|(other, _)| other == key).map(|(_, value)| *value);
        }
        self.long.get(key).copied()
    }

    /// Sets the value of a key; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.long.is_empty() && self.short.len() < SMALL {
            match self.short.iter_mut().find(|(other, _)| *other == key) {
                Some((_, held)) => return Some(std::mem::replace(held, value)),
                None => self.short.push((key, value)),
            }
            return None;
        }
        self.long.extend(self.short.drain(..));
        self.long.insert(key, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_or_long_a_map_has_what_was_put_in() {
        let mut map = SmallMap::new();
        for key in 0..200 {
            assert_eq!(map.insert(key, 0), None);
            assert_eq!(map.insert(key, 2 * key), Some(0));
            assert_eq!(map.len(), key + 1);
            assert!((0..200).all(|other| map.get(&other) == (other <= key).then_some(2 * other)));
        }
    }
}
