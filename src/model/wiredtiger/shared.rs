//! Parts of a store that many stores have in common, and small sets of sessions: a store is copied
//! for each step of a search, and what a step leaves as it is is not.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::store::Session;

/// A value with its hash.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    hash: u64,
    of: Arc<T>,
}

impl<T: Hash> Shared<T> {
    pub fn new(of: T) -> Shared<T> {
        let mut hasher = FxHasher::default();
        of.hash(&mut hasher);
        Shared { hash: hasher.finish(), of: Arc::new(of) }
    }

    pub fn get(&self) -> &T {
        &self.of
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Shared<T>) -> bool {
        self.hash == other.hash && (Arc::ptr_eq(&self.of, &other.of) || self.of == other.of)
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.hash.hash(hasher);
    }
}

/// A set of sessions, a bit for each. The last word is not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sessions(SmallVec<[u64; 1]>);

impl Sessions {
    fn place(session: Session) -> (usize, u64) {
        (session as usize / 64, 1 << (session % 64))
    }

    pub fn insert(&mut self, session: Session) {
        let (word, bit) = Sessions::place(session);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    pub fn remove(&mut self, session: Session) {
        let (word, bit) = Sessions::place(session);
        if let Some(of) = self.0.get_mut(word) {
            *of &= !bit;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    pub fn contains(&self, session: Session) -> bool {
        let (word, bit) = Sessions::place(session);
        self.0.get(word).is_some_and(|of| of & bit != 0)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
