//! The operations of a range set that are open at an instant, and what the set holds beside them.
//!
//! A *mask* has a bit for each open operation that has taken effect. What has returned is in the
//! base, which all masks share. Every step of time can be taken back, the last one first.

use smallvec::SmallVec;

use super::want::{Bound, Want};
use crate::check::data::bits::bits;
use crate::check::data::small::{Few, Small};
use crate::check::exact::keys::{Index, Sums};
use crate::core::history::OperationId;

/// An open operation. Keys are by their place among all keys.
pub struct OpenOperation {
    pub id: OperationId,
    /// When it returns.
    pub end: u64,
    pub want: Want,
    /// How many of its keys the base holds; those of a change: its own.
    pub base: i64,
    /// The open changes of those keys.
    inside: u64,
    /// The open changes of the keys that it lists.
    listed: u64,
}

pub struct Open {
    pub index: Index,
    /// Of each key: inserts less removes of the base. Not always 0 or 1: a change can return before
    /// another that it came after.
    held: Small<i64>,
    sums: Sums,
    /// By place.
    operations: Few<Option<OpenOperation>>,
    used: u64,
    /// The open operations that change the set, and those of them that insert.
    pub changes: u64,
    inserts: u64,
    /// What has returned since everything before was settled, in this order.
    returned: SmallVec<[OpenOperation; 20]>,
}

impl Open {
    pub fn new(index: Index) -> Open {
        let keys = index.len();
        Open {
            index,
            held: Small::from_elem(0, keys),
            sums: Sums::new(keys),
            operations: Few::new(),
            used: 0,
            changes: 0,
            inserts: 0,
            returned: SmallVec::new(),
        }
    }

    pub fn at(&self, place: usize) -> &OpenOperation {
        self.operations[place].as_ref().expect("its bit is in use")
    }

    pub fn all(&self) -> impl Iterator<Item = &OpenOperation> {
        self.operations.iter().flatten()
    }

    pub fn reads(&self) -> u64 {
        self.used & !self.changes
    }

    /// The open changes of the keys that the operation at `place` is about.
    pub fn changes_of(&self, place: usize) -> u64 {
        self.at(place).inside | self.at(place).listed
    }

    /// The open inserts, or removes, of the keys that the operation at `place` counts.
    fn directed(&self, place: usize, inserts: bool) -> u64 {
        self.at(place).inside & if inserts { self.inserts } else { !self.inserts }
    }

    /// The same without those of keys that it lists, which are not free to choose.
    pub fn choices(&self, place: usize, inserts: bool) -> u64 {
        self.directed(place, inserts) & !self.at(place).listed
    }

    /// Whether the configuration `other` can go on in all ways in which `mask` can.
    #[inline]
    pub fn is_as_good(&self, other: u64, mask: u64) -> bool {
        other & self.changes & !mask == 0 && mask & !self.changes & !other == 0
    }

    /// Orders operations by their returns, that of `returning` before others of the same time.
    pub fn due(&self, place: usize, returning: usize) -> (bool, u64) {
        (place != returning, self.at(place).end)
    }

    pub fn call(&mut self, place: usize, id: OperationId, end: u64, want: Want) {
        let base = match &want {
            Want::Change { key, .. } => self.held[*key],
            Want::Read { from, to, .. } if to - from == 1 => self.held[*from],
            Want::Read { from, to, .. } => self.sums.upto(*to) - self.sums.upto(*from),
        };
        let mut operation = OpenOperation { id, end, want, base, inside: 0, listed: 0 };
        for change in bits(self.changes) {
            let Want::Change { key, .. } = self.at(change).want else { continue };
            operation.inside |= u64::from(operation.want.counts(key)) << change;
            operation.listed |= u64::from(operation.want.lists(key)) << change;
        }
        self.put(place, operation, 0);
    }

    /// Opens the operation at `place`. `by`: how much of its change the base no longer has.
    fn put(&mut self, place: usize, operation: OpenOperation, by: i64) {
        if self.operations.len() <= place {
            self.operations.resize_with(place + 1, || None);
        }
        let change = match operation.want {
            Want::Change { key, by } => Some((key, by)),
            Want::Read { .. } => None,
        };
        self.used |= 1 << place;
        self.operations[place] = Some(operation);
        if let Some((key, direction)) = change {
            self.changes |= 1 << place;
            self.inserts |= u64::from(direction > 0) << place;
            self.set_bits(place, key, 1 << place, -by);
        }
    }

    /// Takes back the last call, the one at `place`.
    pub fn take_call_back(&mut self, place: usize) {
        if let Want::Change { key, .. } = self.at(place).want {
            self.set_bits(place, key, 0, 0);
        }
        self.free(place);
    }

    /// The operation at `place` returns: it goes into the base. `keeps`: that may be taken back.
    pub fn settle(&mut self, place: usize, keeps: bool) {
        if let Want::Change { key, by } = self.at(place).want {
            self.held[key] += by;
            self.sums.add(key, by);
            self.set_bits(place, key, 0, by);
        }
        let operation = self.free(place);
        if keeps {
            self.returned.push(operation);
        }
    }

    /// Takes back the last return, of the operation that was at `place`.
    pub fn take_return_back(&mut self, place: usize) {
        let operation = self.returned.pop().expect("it has returned");
        let mut removed = 0;
        if let Want::Change { key, by } = operation.want {
            self.held[key] -= by;
            self.sums.add(key, -by);
            removed = by;
        }
        self.put(place, operation, removed);
    }

    /// Nothing that has returned is taken back any more.
    pub fn forget_returned(&mut self) {
        self.returned.clear();
    }

    fn free(&mut self, place: usize) -> OpenOperation {
        let rest = !(1 << place);
        (self.used, self.changes) = (self.used & rest, self.changes & rest);
        self.inserts &= rest;
        self.operations[place].take().expect("it was called")
    }

    /// Says to all that are about `key` whether its change at `place` is open (`bit`), and by how
    /// much the base changes.
    fn set_bits(&mut self, place: usize, key: usize, bit: u64, by: i64) {
        let rest = !(1 << place);
        for operation in self.operations.iter_mut().flatten() {
            if operation.want.counts(key) {
                operation.inside = operation.inside & rest | bit;
                operation.base += by;
            }
            if operation.want.lists(key) {
                operation.listed = operation.listed & rest | bit;
            }
        }
    }

    /// How many of its keys the operation finds in the configuration `mask`.
    #[inline]
    pub fn counted(&self, mask: u64, operation: &OpenOperation) -> i64 {
        let done = mask & operation.inside;
        let inserted = (done & self.inserts).count_ones();
        operation.base + i64::from(inserted) - i64::from(done.count_ones() - inserted)
    }

    /// Whether the operation at `place` can take effect in the configuration `mask`.
    #[inline]
    pub fn is_legal(&self, mask: u64, place: usize) -> bool {
        let operation = self.at(place);
        let here = self.counted(mask, operation);
        match &operation.want {
            Want::Change { by, .. } => here == i64::from(*by < 0),
            Want::Read { count, present, .. } => {
                let right = match count {
                    Bound::Exactly(count) => here == *count,
                    Bound::AtMost(most) => here <= *most,
                    Bound::Never => false,
                };
                right && present.iter().all(|key| self.holds(mask & operation.listed, *key))
            }
        }
    }

    /// Whether the key is in the set once `changes` have taken effect.
    pub fn holds(&self, changes: u64, key: usize) -> bool {
        let added = bits(changes).map(|place| match self.at(place).want {
            Want::Change { key: other, by } if other == key => by,
            _ => 0,
        });
        self.held[key] + added.sum::<i64>() == 1
    }

    /// With the reads whose answer is right in it.
    pub fn with_reads(&self, mut mask: u64) -> u64 {
        for read in bits(self.reads() & !mask) {
            mask |= u64::from(self.is_legal(mask, read)) << read;
        }
        mask
    }

    /// The operation at `place`, which returns, and the reads that may need changes before it: each
    /// about a key that a change for any of these operations may change.
    pub fn concerned(&self, place: usize) -> u64 {
        let (mut concerned, mut looked_at) = (1 << place, 0);
        while let Some(one) = bits(concerned & !looked_at).next() {
            looked_at |= 1 << one;
            let changes = self.changes_of(one);
            for read in bits(self.reads() & !concerned) {
                concerned |= u64::from(self.changes_of(read) & changes != 0) << read;
            }
        }
        concerned
    }

    /// Of each key that the operation at `wanted` is about: the open change that can take effect
    /// next, if any. `returning` is the place of the operation that returns.
    pub fn next_changes(&self, mask: u64, wanted: usize, returning: usize) -> u64 {
        let is_next = |change: &usize| {
            let rivals = self.directed(*change, self.inserts >> change & 1 == 1) & !mask;
            self.is_legal(mask, *change) && self.first_to_return(rivals, returning) == Some(*change)
        };
        let changes = bits(self.changes_of(wanted) & !mask);
        changes.filter(is_next).fold(0, |next, change| next | 1 << change)
    }

    /// Which of `changes` returns first.
    pub fn first_to_return(&self, changes: u64, returning: usize) -> Option<usize> {
        bits(changes).min_by_key(|place| self.due(*place, returning))
    }
}
