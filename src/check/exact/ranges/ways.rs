//! The ways in which the operation that returns can take effect, one after another, the most
//! promising first.
//!
//! Those of all instants on the way to the present one lie on one stack: the search goes on with
//! the newest, and comes back to older ones where it fails.

use std::cmp::Reverse;

use super::open::Open;
use super::want::{Bound, Want};
use crate::check::data::bits::bits;
use crate::check::data::small::Few;
use crate::check::search::frontier::limit;
use crate::check::undecided::Exhausted;
use crate::check::verdict::Limits;

/// What is left to be tried.
#[derive(Clone, Copy)]
enum Node {
    /// A configuration.
    Reached(u64),
    /// What leads to one in which an operation can take effect.
    Lacks(Lack),
}

/// The operation at `wanted` can take effect after `count` more of `choices`, any of them.
#[derive(Clone, Copy)]
pub struct Lack {
    mask: u64,
    wanted: usize,
    choices: u64,
    count: u32,
}

/// A return at which there may be several ways.
#[derive(Clone, Copy)]
pub struct Branch {
    /// The number of the return among the events.
    pub event: usize,
    /// The place of the operation that returns.
    pub place: usize,
    /// The configuration in which it has not taken effect.
    pub mask: u64,
    /// The changes that take effect here on the way that is followed; none before there is one.
    pub took: u64,
    concerned: u64,
    /// Where its nodes and configurations begin.
    nodes: usize,
    visited: usize,
}

/// What the search has spent of what it may spend.
pub struct Budget<'a> {
    limits: &'a Limits,
    steps: u64,
    /// How often two configurations were compared, and what takes as long.
    compared: u64,
    /// Configurations that are remembered, as nothing leads on from them.
    failed: usize,
}

/// So many comparisons of two configurations take as long as a step; and an event that is taken
/// back, to pass once more, as long as so many.
const COMPARED_IN_A_STEP: u64 = 64;
const COMPARED_IN_AN_EVENT: u64 = 8;

impl<'a> Budget<'a> {
    pub fn new(limits: &'a Limits) -> Budget<'a> {
        Budget { limits, steps: 0, compared: 0, failed: 0 }
    }

    /// Spends a step and so many comparisons.
    fn spend(&mut self, compared: usize) -> Result<(), Exhausted> {
        (self.steps, self.compared) = (self.steps + 1, self.compared + compared as u64);
        if self.compared / COMPARED_IN_A_STEP > self.limits.steps_max {
            return Err(Exhausted::Steps(self.limits.steps_max));
        }
        limit(self.limits, self.steps, self.failed, size_of::<u64>())
    }

    /// So many events are taken back.
    pub fn take_back(&mut self, events: usize) {
        self.compared += COMPARED_IN_AN_EVENT * events as u64;
    }

    /// So many more configurations are remembered; other things take so many bytes.
    pub fn hold(&mut self, failed: usize, bytes: usize) -> Result<(), Exhausted> {
        self.failed += failed;
        if bytes + self.failed * size_of::<u64>() > self.limits.memory_max {
            return Err(Exhausted::Memory(self.limits.memory_max));
        }
        Ok(())
    }
}

#[derive(Default)]
pub struct Ways {
    nodes: Few<Node>,
    /// Configurations in which the operations that return have not taken effect, looked at.
    visited: Few<u64>,
    branches: Few<Branch>,
}

impl Ways {
    /// The operation at `place` returns, as event `event`, and has no effect yet in `mask`.
    /// `concerned`: it and the reads that may need changes before it.
    pub fn open(&mut self, event: usize, place: usize, mask: u64, concerned: u64) {
        let (nodes, visited) = (self.nodes.len(), self.visited.len());
        self.branches.push(Branch { event, place, mask, took: 0, concerned, nodes, visited });
        self.nodes.push(Node::Reached(mask));
    }

    /// The newest return with ways that may be left.
    pub fn newest(&self) -> Option<&Branch> {
        self.branches.last()
    }

    /// Ends the newest return: none of its ways led on. Hands out the configurations that were
    /// visited.
    pub fn close(&mut self) -> impl Iterator<Item = u64> {
        let branch = self.branches.pop().expect("one is open");
        self.nodes.truncate(branch.nodes);
        self.visited.drain(branch.visited..)
    }

    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    pub fn clear(&mut self) {
        self.nodes.clear();
        self.visited.clear();
        self.branches.clear();
    }

    /// Memory of it all, in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&self.nodes[..])
            + size_of_val(&self.visited[..])
            + size_of_val(&self.branches[..])
    }

    /// The next configuration in which the operation of the newest return has taken effect; none
    /// if there is no other. `failed`: configurations at that return from which nothing leads on.
    pub fn next(
        &mut self,
        open: &Open,
        failed: &[u64],
        budget: &mut Budget,
    ) -> Result<Option<u64>, Exhausted> {
        let newest = self.branches.len() - 1;
        let Branch { place, mask: from, concerned, nodes, visited, .. } = self.branches[newest];
        while self.nodes.len() > nodes {
            match self.nodes.pop().expect("there is one") {
                Node::Reached(mask) if mask >> place & 1 == 1 => {
                    self.branches[newest].took = mask & !from & open.changes;
                    return Ok(Some(mask));
                }
                Node::Reached(mask) => {
                    let visited = &self.visited[visited..];
                    budget.spend(visited.len() + failed.len())?;
                    let mut others = visited.iter().chain(failed);
                    if !others.any(|other| open.is_as_good(*other, mask)) {
                        self.visited.push(mask);
                        self.expand(mask, place, concerned, open);
                    }
                }
                Node::Lacks(lack) => {
                    budget.spend(0)?;
                    self.choose(open, place, lack);
                }
            }
        }
        Ok(None)
    }

    /// Goes on from `mask`: each of the concerned operations may be the next to take effect, that
    /// which returns before others.
    fn expand(&mut self, mask: u64, returning: usize, concerned: u64, open: &Open) {
        let mut wanted: Few<usize> = bits(concerned & !mask).collect();
        wanted.sort_by_key(|place| Reverse(open.due(*place, returning)));
        for wanted in wanted {
            self.nodes.extend(lack(mask, wanted, returning, open).map(Node::Lacks));
        }
    }

    /// Goes on with the first of the choices; without it later.
    fn choose(&mut self, open: &Open, returning: usize, lack: Lack) {
        let Lack { mask, wanted, choices, count } = lack;
        if count == 0 {
            let mut to = open.with_reads(mask);
            if open.changes >> wanted & 1 == 1 {
                to = open.with_reads(to | 1 << wanted);
            }
            return self.nodes.push(Node::Reached(to));
        }
        let first = open.first_to_return(choices, returning).expect("no fewer are left");
        let choices = choices & !(1 << first);
        if choices.count_ones() >= count {
            self.nodes.push(Node::Lacks(Lack { choices, ..lack }));
        }
        let mask = open.with_reads(mask | 1 << first);
        self.nodes.push(Node::Lacks(Lack { mask, wanted, choices, count: count - 1 }));
    }
}

/// The fewest changes with which the operation at `wanted` can take effect in `mask`; none where
/// those that are open are not enough.
pub fn lack(mask: u64, wanted: usize, returning: usize, open: &Open) -> Option<Lack> {
    let next = open.next_changes(mask, wanted, returning);
    let operation = open.at(wanted);
    let lack = match &operation.want {
        Want::Change { .. } => {
            let count = u32::from(!open.is_legal(mask, wanted));
            Lack { mask, wanted, choices: next, count }
        }
        Want::Read { count, present, .. } => {
            let mut mask = mask;
            for key in present {
                if !open.holds(mask, *key) {
                    mask |= 1 << bits(next).find(|change| open.at(*change).want.counts(*key))?;
                }
            }
            let here = open.counted(mask, operation);
            let missing = match count {
                Bound::Exactly(count) => count - here,
                Bound::AtMost(most) => (most - here).min(0),
                Bound::Never => return None,
            };
            let choices = next & open.choices(wanted, missing > 0);
            Lack { mask, wanted, choices, count: u32::try_from(missing.unsigned_abs()).ok()? }
        }
    };
    (lack.choices.count_ones() >= lack.count).then_some(lack)
}
