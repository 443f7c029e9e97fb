//! Finds a short cycle of dependencies, the worst kind first: G0, of appends alone; G1c, of appends
//! and reads; G-single, with one read that missed something; G2-item, with several. Those without
//! the order in time come before all with it. (Adya 1999; the way to them is Elle's, Kingsbury and
//! Alvaro, VLDB 2020, section 6.)

use std::collections::VecDeque;

use super::dependencies::{Dependencies, Edge};
use crate::check::explanation::{Dependency, Precedes};
use crate::check::undecided::Exhausted;
use crate::check::verdict::Limits;
use Precedes::{Appended, Missed, Over, Read};

/// How many edges a search may follow to find a cycle that is shorter than one that is known, or of
/// a kind of which there may be none.
const FOLLOWED_MAX: usize = 20_000_000;

/// Which dependencies a cycle may have.
struct Search {
    edges: &'static [Precedes],
    /// It begins with one missed, and has no other; `edges` is without these.
    with_one_missed: bool,
}

const SEARCHES: [Search; 8] = [
    Search { edges: &[Appended], with_one_missed: false },
    Search { edges: &[Appended, Read], with_one_missed: false },
    Search { edges: &[Appended, Read], with_one_missed: true },
    Search { edges: &[Appended, Read, Missed], with_one_missed: false },
    Search { edges: &[Appended, Over], with_one_missed: false },
    Search { edges: &[Appended, Read, Over], with_one_missed: false },
    Search { edges: &[Appended, Read, Over], with_one_missed: true },
    Search { edges: &[Appended, Read, Missed, Over], with_one_missed: false },
];

/// A cycle of the worst kind, if there is any: each transaction depends on the one before it.
pub fn worst(graph: &Dependencies, limits: &Limits) -> Result<Option<Vec<Dependency>>, Exhausted> {
    let whole = components(graph, &|_, _| true);
    if !whole.iter().any(|component| component.is_some()) {
        return Ok(None);
    }
    let mut shortest = Shortest::new(graph);
    for search in &SEARCHES {
        limits.go_on()?;
        let within = |from: usize, edge: &Edge| {
            whole[from].is_some()
                && whole[from] == whole[edge.to]
                && edge.why.is_none_or(|why| search.edges.contains(&why))
        };
        shortest.followed = 0;
        for start in starts(graph, search, &whole, &within) {
            let is_known = search.with_one_missed || shortest.found.is_some();
            // Two is the least.
            if is_known && (shortest.length == 2 || shortest.followed > FOLLOWED_MAX) {
                break;
            }
            shortest.through(start, &within);
        }
        if let Some(way) = shortest.found.take() {
            return Ok(Some(transactions(graph, &way)));
        }
    }
    unreachable!("the last search may follow every edge")
}

/// Where cycles may begin: at a node, or with an edge from it.
struct Start {
    node: usize,
    first: Option<Edge>,
}

fn starts(
    graph: &Dependencies,
    search: &Search,
    whole: &[Option<usize>],
    within: &dyn Fn(usize, &Edge) -> bool,
) -> Vec<Start> {
    let nodes = 0..graph.nodes();
    if search.with_one_missed {
        let missed = |edge: &&Edge| edge.why == Some(Missed);
        let first = |node: usize| {
            let inside = move |edge: &&Edge| whole[node].is_some() && whole[node] == whole[edge.to];
            let edges = graph.edges_of(node).iter().filter(missed).filter(inside);
            edges.map(move |edge| Start { node, first: Some(*edge) })
        };
        return nodes.flat_map(first).collect();
    }
    let parts = components(graph, within);
    let inside = nodes.filter(|node| parts[*node].is_some() && !graph.is_hub(*node));
    inside.map(|node| Start { node, first: None }).collect()
}

/// The shortest cycle so far.
struct Shortest<'a, 'b> {
    graph: &'a Dependencies<'b>,
    /// By which edge each node was come to, and in which search.
    come: Vec<(usize, Option<(usize, Edge)>)>,
    searches: usize,
    followed: usize,
    found: Option<Vec<Edge>>,
    length: usize,
}

impl<'a, 'b> Shortest<'a, 'b> {
    fn new(graph: &'a Dependencies<'b>) -> Shortest<'a, 'b> {
        let come = vec![(0, None); graph.nodes()];
        Shortest { graph, come, searches: 0, followed: 0, found: None, length: usize::MAX }
    }

    /// Looks for a shorter one through `start`. Counts transactions, not hubs.
    fn through(&mut self, start: Start, within: &dyn Fn(usize, &Edge) -> bool) {
        self.searches += 1;
        let mut next = VecDeque::new();
        match start.first {
            None => next.push_back((start.node, 0)),
            Some(edge) => {
                self.come[edge.to] = (self.searches, Some((start.node, edge)));
                next.push_back((edge.to, usize::from(!self.graph.is_hub(edge.to))));
            }
        }
        while let Some((node, length)) = next.pop_front() {
            if length >= self.length {
                return;
            }
            for edge in self.graph.edges_of(node).iter().filter(|edge| within(node, edge)) {
                self.followed += 1;
                if self.come[edge.to].0 == self.searches {
                    continue;
                }
                self.come[edge.to] = (self.searches, Some((node, *edge)));
                if edge.to == start.node {
                    self.length = length + 1;
                    self.found = Some(self.way_to(start.node));
                    return;
                }
                match self.graph.is_hub(edge.to) {
                    true => next.push_front((edge.to, length)),
                    false => next.push_back((edge.to, length + 1)),
                }
            }
        }
    }

    /// The edges from a node around to itself.
    fn way_to(&self, start: usize) -> Vec<Edge> {
        let (mut way, mut at) = (Vec::new(), start);
        loop {
            let (before, edge) = self.come[at].1.expect("the search came here");
            way.push(edge);
            at = before;
            if at == start {
                way.reverse();
                return way;
            }
        }
    }
}

/// The dependencies of transactions that a way around is, which begins at a transaction.
fn transactions(graph: &Dependencies, way: &[Edge]) -> Vec<Dependency> {
    way.split_inclusive(|edge| !graph.is_hub(edge.to)).map(|way| graph.dependency(way)).collect()
}

/// The strongly connected component of each node, by these edges, where that has several nodes
/// (Tarjan, SIAM Journal on Computing 1972).
fn components(graph: &Dependencies, within: &dyn Fn(usize, &Edge) -> bool) -> Vec<Option<usize>> {
    const NEW: usize = usize::MAX;
    let count = graph.nodes();
    let (mut number, mut low) = (vec![NEW; count], vec![0; count]);
    let (mut component, mut is_open) = (vec![None; count], vec![false; count]);
    let (mut open, mut path): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let mut numbers = 0;
    for root in 0..count {
        if number[root] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            if *at == 0 && number[node] == NEW {
                (number[node], low[node], is_open[node]) = (numbers, numbers, true);
                numbers += 1;
                open.push(node);
            }
            let Some(edge) = graph.edges_of(node).get(*at) else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
                if low[node] == number[node] {
                    let from = open.iter().rposition(|other| *other == node).expect("it is open");
                    let is_alone = open.len() - from == 1;
                    for member in open.drain(from..) {
                        is_open[member] = false;
                        component[member] = (!is_alone).then_some(node);
                    }
                }
                continue;
            };
            *at += 1;
            if !within(node, edge) {
                continue;
            }
            match number[edge.to] {
                NEW => path.push((edge.to, 0)),
                other if is_open[edge.to] => low[node] = low[node].min(other),
                _ => {}
            }
        }
    }
    component
}
