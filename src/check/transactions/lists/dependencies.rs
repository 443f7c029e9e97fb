//! Makes a graph of which transaction comes before which, and why.
//!
//! Some of its nodes are no transactions but hubs: what comes before a hub comes before all that
//! comes after it. So many that come before many need few edges.

use super::super::transaction::Outcome;
use super::versions::Versions;
use crate::check::explanation::{Dependency, Precedes};
use crate::core::history::OperationId;
use crate::core::operation::Op;

/// From a node to another one.
#[derive(Clone, Copy)]
pub struct Edge {
    pub to: usize,
    /// None from a hub: as what comes before it.
    pub why: Option<Precedes>,
    /// The operations of the first and of the second that make it so; of a hub's that of the other.
    operations: [OperationId; 2],
}

pub struct Dependencies<'a> {
    versions: &'a Versions<'a>,
    /// The edges of all nodes, node by node.
    edges: Vec<Edge>,
    /// Where those of a node begin. One more than there are nodes.
    first: Vec<usize>,
}

/// Edges as they are found, each with where it comes from.
struct Found {
    edges: Vec<(usize, Edge)>,
    nodes: usize,
}

impl Found {
    fn add(&mut self, [from, to]: [usize; 2], why: Precedes, operations: [OperationId; 2]) {
        if from != to {
            self.edges.push((from, Edge { to, why: Some(why), operations }));
        }
    }

    fn leave(&mut self, hub: usize, to: usize, operation: OperationId) {
        self.edges.push((hub, Edge { to, why: None, operations: [operation; 2] }));
    }

    fn hub(&mut self) -> usize {
        self.nodes += 1;
        self.nodes - 1
    }
}

impl<'a> Dependencies<'a> {
    /// The graph of those that committed; with their order in time, if that is to be kept.
    pub fn new(versions: &'a Versions<'a>, in_time: bool) -> Dependencies<'a> {
        let mut found = Found { edges: Vec::new(), nodes: versions.transactions.len() };
        let behind: Vec<Option<usize>> =
            (0..versions.lists.len()).map(|list| appended(versions, list, &mut found)).collect();
        read(versions, &behind, &mut found);
        if in_time {
            over(versions, &mut found);
        }
        let Found { mut edges, nodes } = found;
        edges.sort_by_key(|(from, _)| *from);
        let first = (0..=nodes).map(|node| edges.partition_point(|(from, _)| *from < node));
        let first = first.collect();
        let edges = edges.into_iter().map(|(_, edge)| edge).collect();
        Dependencies { versions, edges, first }
    }

    pub fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    pub fn edges_of(&self, node: usize) -> &[Edge] {
        &self.edges[self.first[node]..self.first[node + 1]]
    }

    pub fn is_hub(&self, node: usize) -> bool {
        node >= self.versions.transactions.len()
    }

    /// The dependency of a transaction on another one, with no or some hubs between.
    pub fn dependency(&self, way: &[Edge]) -> Dependency {
        let (first, last) = (&way[0], &way[way.len() - 1]);
        let operations = [first.operations[0], last.operations[1]];
        let why = first.why.expect("it leaves a transaction");
        let shown = (why == Precedes::Appended).then(|| {
            let key = self.versions.history.args(operations[0])[0];
            self.versions.shown_by(self.versions.number(key))
        });
        Dependency { why, operations, shown: shown.flatten() }
    }
}

/// The appends to a list, one after another. Gives the hub before those that nobody read, if any.
fn appended(versions: &Versions, list: usize, found: &mut Found) -> Option<usize> {
    let append = |number: &usize| {
        let append = &versions.appends[*number];
        (append.transaction, append.id)
    };
    let list = &versions.lists[list];
    let order: Vec<(usize, OperationId)> = list.order.iter().map(append).collect();
    for pair in order.windows(2) {
        let [(before, first), (after, second)] = [pair[0], pair[1]];
        found.add([before, after], Precedes::Appended, [first, second]);
    }
    if list.unread.is_empty() {
        return None;
    }
    let hub = found.hub();
    if let Some((before, id)) = order.last() {
        found.add([*before, hub], Precedes::Appended, [*id; 2]);
    }
    for (after, id) in list.unread.iter().map(append) {
        found.leave(hub, after, id);
    }
    Some(hub)
}

/// What reads found of others, and what they missed.
fn read(versions: &Versions, behind: &[Option<usize>], found: &mut Found) {
    for read in &versions.reads {
        let order = &versions.lists[read.list].order;
        let append = |at: usize| order.get(at).map(|number| &versions.appends[*number]);
        if let Some(last) = read.count.checked_sub(1).and_then(append) {
            found.add([last.transaction, read.transaction], Precedes::Read, [last.id, read.id]);
        }
        match (append(read.count), behind[read.list]) {
            (Some(next), _) => {
                let both = [read.transaction, next.transaction];
                found.add(both, Precedes::Missed, [read.id, next.id]);
            }
            (None, Some(hub)) => {
                found.add([read.transaction, hub], Precedes::Missed, [read.id; 2]);
            }
            (None, None) => {}
        }
    }
}

/// What was over before others began: a hub after each end, which comes after that before it.
fn over(versions: &Versions, found: &mut Found) {
    let (transactions, history) = (versions.transactions, versions.history);
    let committed = (0..transactions.len()).filter(|number| versions.committed[*number]);
    let mut ends: Vec<(u64, usize)> = committed
        .clone()
        .filter_map(|number| match transactions[number].outcome {
            Outcome::Committed { end, .. } => Some((end, number)),
            _ => None,
        })
        .collect();
    ends.sort_unstable();
    let first = found.nodes;
    for (place, (_, number)) in ends.iter().enumerate() {
        let hub = found.hub();
        let commit = transactions[*number].operations().next_back().expect("its commit");
        found.add([*number, hub], Precedes::Over, [commit; 2]);
        if place > 0 {
            found.leave(hub - 1, hub, commit);
        }
    }
    for number in committed {
        let begin = transactions[number].begin;
        let start = history.operation(begin).start;
        debug_assert_eq!(history.operation(begin).op, Op::StoreBegin);
        if let Some(last) = ends.partition_point(|(end, _)| *end < start).checked_sub(1) {
            found.leave(first + last, number, begin);
        }
    }
}
