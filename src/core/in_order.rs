//! Puts operations into the order of time that nodes report in their own orders, each with a bound
//! below which it will report nothing more.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::history::{Misfit, NEVER};

/// What happens next, in the order of time; invocations come before responses at equal times.
#[derive(Clone, Debug, PartialEq)]
pub enum Moment<T> {
    /// `number` counts the operations in this order, from 0. `end` is none where the operation is
    /// never known to have returned.
    Invoked {
        number: u64,
        operation: T,
        start: u64,
        end: Option<u64>,
    },
    Returned {
        number: u64,
        end: u64,
    },
}

/// Operations of type `T` that wait until all nodes have passed their times.
///
/// ```
/// use interlap::core::in_order::{InOrder, Moment};
///
/// let mut operations = InOrder::new([1, 2]); // two nodes
/// operations.add("late", 20, Some(30)).unwrap();
/// operations.add("early", 10, Some(25)).unwrap();
/// operations.bound(1, 40).unwrap();
/// assert_eq!(operations.next(), None); // node 2 may still report what began before
/// operations.bound(2, 26).unwrap();
/// let numbers = std::iter::from_fn(|| operations.next()).map(|moment| match moment {
///     Moment::Invoked { number, .. } => (number, "invoked"),
///     Moment::Returned { number, .. } => (number, "returned"),
/// });
/// let expected = [(0, "invoked"), (1, "invoked"), (0, "returned")];
/// assert_eq!(numbers.collect::<Vec<_>>(), expected);
/// ```
#[derive(Clone, Debug)]
pub struct InOrder<T> {
    bounds: BTreeMap<u32, u64>,
    /// Operations that were not yet invoked, by their start, in the order in which they came.
    waiting: BTreeMap<(u64, u64), (T, Option<u64>)>,
    /// The numbers of those that have not yet returned, by their end.
    returning: BTreeSet<(u64, u64)>,
    came: u64,
    invoked: u64,
}

impl<T> InOrder<T> {
    /// Of these nodes, which are all that report.
    pub fn new(nodes: impl IntoIterator<Item = u32>) -> InOrder<T> {
        InOrder {
            bounds: nodes.into_iter().map(|node| (node, 0)).collect(),
            waiting: BTreeMap::new(),
            returning: BTreeSet::new(),
            came: 0,
            invoked: 0,
        }
    }

    /// Adds a finished operation. `end` is none where its outcome is not known. Says why where it
    /// comes too late: all nodes had bounds above its start.
    pub fn add(&mut self, operation: T, start: u64, end: Option<u64>) -> Result<(), Misfit> {
        if end.is_some_and(|end| start > end || end == NEVER) {
            return Err(Misfit::Order(format!("box [{start}, {end:?}] ends before it starts")));
        }
        let bound = self.least_bound();
        if start < bound {
            let text = format!(
                "an operation that started at {start}, when all up to {bound} was known; bound a \
                 node by the start of its call under way"
            );
            return Err(Misfit::Order(text));
        }
        self.came += 1;
        self.waiting.insert((start, self.came), (operation, end));
        Ok(())
    }

    /// This node adds no operation any more that started before `time`. A later bound replaces an
    /// earlier one; an earlier one says nothing new.
    pub fn bound(&mut self, node: u32, time: u64) -> Result<(), Misfit> {
        match self.bounds.entry(node) {
            Entry::Occupied(mut known) => {
                *known.get_mut() = time.max(*known.get());
                Ok(())
            }
            Entry::Vacant(_) => Err(Misfit::Order(format!("node {node} was not named at first"))),
        }
    }

    /// No node adds anything any more.
    pub fn close(&mut self) {
        self.bounds.clear();
    }

    /// Operations that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn least_bound(&self) -> u64 {
        self.bounds.values().copied().min().unwrap_or(NEVER)
    }

    /// What happens next, if that is certain yet.
    #[allow(clippy::should_implement_trait)] // More may come after none.
    pub fn next(&mut self) -> Option<Moment<T>> {
        let bound = self.least_bound();
        let start = self.waiting.first_key_value().map(|((start, _), _)| *start);
        let end = self.returning.first().map(|(end, _)| *end);
        if start.is_some_and(|start| start < bound && end.is_none_or(|end| start <= end)) {
            let ((start, _), (operation, end)) = self.waiting.pop_first()?;
            let number = self.invoked;
            self.invoked += 1;
            self.returning.extend(end.map(|end| (end, number)));
            return Some(Moment::Invoked { number, operation, start, end });
        }
        end.filter(|end| *end < bound)?;
        let (end, number) = self.returning.pop_first()?;
        Some(Moment::Returned { number, end })
    }
}
