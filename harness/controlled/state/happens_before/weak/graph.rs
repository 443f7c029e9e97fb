//! An execution as a graph, and whether C++ allows it: by the axioms, written out.

use super::super::Order;
use super::program::{Kind, Program};

/// Events as sets of bits.
type Set = u64;

/// One access, fence or boundary of calls that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    pub thread: usize,
    pub kind: Kind,
    pub location: usize,
    /// By its number in <stdatomic.h>.
    pub order: u32,
    /// The value that it has read, which names the store.
    pub reads: Option<u64>,
    pub writes: Option<u64>,
}

impl Event {
    fn by(&self) -> Order {
        Order::of(self.order)
    }

    fn is_fence(&self) -> bool {
        self.kind == Kind::Fence
    }

    fn is_seq_cst(&self) -> bool {
        self.order == 5 && self.kind != Kind::Boundary
    }
}

/// Events in the order in which they were made, and the values of each location in modification
/// order, of which 0 is the first.
#[derive(Clone, Debug)]
pub struct Graph {
    pub events: Vec<Event>,
    pub modifications: Vec<Vec<u64>>,
}

/// A relation: the successors of each event.
#[derive(Clone)]
struct Relation(Vec<Set>);

impl Relation {
    fn new(count: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |from| (0..count).filter(|to| holds(from, *to)).fold(0, |set, to| set | 1 << to);
        Relation((0..count).map(row).collect())
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] & (1 << to) != 0
    }

    fn or(mut self, other: &Relation) -> Relation {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one |= other);
        self
    }

    fn then(&self, other: &Relation) -> Relation {
        let row = |set: &Set| {
            (0..other.0.len())
                .filter(|at| set & (1 << at) != 0)
                .fold(0, |all, at| all | other.0[at])
        };
        Relation(self.0.iter().map(row).collect())
    }

    fn closed(mut self) -> Relation {
        for middle in 0..self.0.len() {
            let after = self.0[middle];
            for row in &mut self.0 {
                if *row & (1 << middle) != 0 {
                    *row |= after;
                }
            }
        }
        self
    }

    fn or_same(&self) -> Relation {
        Relation(self.0.iter().enumerate().map(|(at, set)| set | 1 << at).collect())
    }

    fn is_acyclic(&self) -> bool {
        self.clone().closed().0.iter().enumerate().all(|(at, set)| set & (1 << at) == 0)
    }
}

/// What the axioms speak of.
struct Relations {
    program: Relation,
    reads_from: Relation,
    modification: Relation,
    reads_before: Relation,
    happens_before: Relation,
    /// The same, with the order of calls in real time.
    seen: Relation,
    /// All that coherence orders.
    coherence: Relation,
}

impl Graph {
    /// What was read in the order of the program, and the last value of each location.
    pub fn outcome(&self, program: &Program) -> (Vec<u64>, Vec<u64>) {
        let of = |thread| self.events.iter().filter(move |event| event.thread == thread);
        let reads = (0..program.threads.len()).flat_map(of).filter_map(|event| event.reads);
        let last = self.modifications.iter().map(|values| *values.last().expect("the first one"));
        (reads.collect(), last.collect())
    }

    fn relation(&self, holds: impl Fn(usize, usize) -> bool) -> Relation {
        Relation::new(self.events.len(), holds)
    }

    /// Whether it comes before the other in modification order; the initial store is no event.
    fn place(&self, location: usize, value: u64) -> usize {
        let values = &self.modifications[location];
        values.iter().position(|of| *of == value).expect("a store that was made")
    }

    fn relations(&self) -> Relations {
        let e = &self.events;
        let same = |one: usize, other: usize| {
            e[one].location == e[other].location && !e[one].is_fence() && !e[other].is_fence()
        };
        let program = self.relation(|one, other| one < other && e[one].thread == e[other].thread);
        let reads_from = self.relation(|one, other| {
            same(one, other) && e[one].writes.is_some() && e[one].writes == e[other].reads
        });
        let place = |at: usize, value: Option<u64>| value.map(|v| self.place(e[at].location, v));
        let newer = |one: Option<usize>, other: Option<usize>| {
            one.zip(other).is_some_and(|(one, other)| one < other)
        };
        let modification = self.relation(|one, other| {
            same(one, other) && newer(place(one, e[one].writes), place(other, e[other].writes))
        });
        let reads_before = self.relation(|one, other| {
            let is_newer = newer(place(one, e[one].reads), place(other, e[other].writes));
            one != other && same(one, other) && is_newer
        });
        let happens_before = program.clone().or(&self.synchronizes(&program)).closed();
        let calls = self.relation(|one, other| {
            one < other && [one, other].iter().all(|at| e[*at].kind == Kind::Boundary)
        });
        let seen = happens_before.clone().or(&calls).closed();
        let coherence = reads_from.clone().or(&modification).or(&reads_before).closed();
        Relations {
            program,
            reads_from,
            modification,
            reads_before,
            happens_before,
            seen,
            coherence,
        }
    }

    fn synchronizes(&self, program: &Relation) -> Relation {
        let e = &self.events;
        let count = e.len();
        self.relation(|source, sink| {
            let heads = (0..count).filter(|head| e[*head].writes.is_some()).filter(|head| {
                let is_own = source == *head && !e[source].is_fence();
                let by_fence = e[source].is_fence() && program.has(source, *head);
                e[source].by().releases && (is_own || by_fence)
            });
            let readers = |head: usize| {
                (0..count).filter(move |at| {
                    e[*at].reads.is_some_and(|value| self.follows(head, e[*at].location, value))
                })
            };
            let ends = |reader: usize| {
                let by_fence = e[sink].is_fence() && program.has(reader, sink);
                e[sink].by().acquires && (sink == reader || by_fence)
            };
            heads.flat_map(readers).any(ends)
        })
    }

    /// Whether the value is of the store's release sequence.
    fn follows(&self, head: usize, location: usize, value: u64) -> bool {
        let e = &self.events;
        if e[head].location != location {
            return false;
        }
        if e[head].writes == Some(value) {
            return true;
        }
        let update = e.iter().find(|of| of.location == location && of.writes == Some(value));
        let before = update.and_then(|of| of.reads);
        before.is_some_and(|before| self.follows(head, location, before))
    }

    fn is_coherent(&self, of: &Relations) -> bool {
        let e = &self.events;
        let crossed = of.seen.or_same().then(&of.coherence);
        let between = of.reads_before.then(&of.modification);
        let is_atomic = (0..e.len()).all(|at| e[at].writes.is_none() || !between.has(at, at));
        let is_ordered = (0..e.len()).all(|at| !crossed.has(at, at) && !of.seen.has(at, at));
        let is_causal = of.program.clone().or(&of.reads_from).is_acyclic();
        is_atomic && is_ordered && is_causal
    }

    fn only(&self, holds: impl Fn(&Event) -> bool) -> Relation {
        self.relation(|one, other| one == other && holds(&self.events[one]))
    }

    /// RC11: section 3 of the paper, with the release sequences of C++20.
    pub fn is_rc11(&self) -> bool {
        let of = self.relations();
        let e = &self.events;
        let before = &of.happens_before;
        let (accesses, fences) = self.seq_cst();
        let elsewhere = self.relation(|one, other| {
            let (one_of, other_of) = (e[one], e[other]);
            let is_same = one_of.location == other_of.location;
            of.program.has(one, other) && (one_of.is_fence() || other_of.is_fence() || !is_same)
        });
        let here = self.relation(|one, other| {
            let is_access = !e[one].is_fence() && !e[other].is_fence();
            before.has(one, other) && is_access && e[one].location == e[other].location
        });
        let order = of.program.clone().or(&elsewhere.then(before).then(&elsewhere)).or(&here);
        let order = order.or(&of.modification).or(&of.reads_before);
        let from = accesses.clone().or(&fences.then(&before.or_same()));
        let to = accesses.or(&before.or_same().then(&fences));
        let base = from.then(&order).then(&to);
        let between = before.clone().or(&before.then(&of.coherence).then(before));
        let of_fences = fences.then(&between).then(&fences);
        self.is_coherent(&of) && base.or(&of_fences).is_acyclic()
    }

    /// The same, where the order of all seq_cst accesses and fences is one in which they can be
    /// made, and agrees with all that C++20 derives from coherence ([atomics.order], 4).
    pub fn can_be_made(&self) -> bool {
        let of = self.relations();
        let before = &of.happens_before;
        let (accesses, fences) = self.seq_cst();
        let from = accesses.clone().or(&fences.then(&before.or_same()));
        let to = accesses.clone().or(&before.or_same().then(&fences));
        let all = accesses.or(&fences);
        let ordered = from.then(&of.coherence).then(&to).or(&all.then(before).then(&all));
        let made = of.program.clone().or(&of.reads_from).or(&ordered);
        self.is_coherent(&of) && made.is_acyclic()
    }

    /// Whether each access has read the last store, as a sequentially consistent memory does.
    pub fn is_as_made(&self) -> bool {
        let mut memory = vec![0; self.modifications.len()];
        self.events.iter().all(|event| {
            let is_last = event.reads.is_none_or(|value| value == memory[event.location]);
            memory[event.location] = event.writes.unwrap_or(memory[event.location]);
            is_last
        })
    }

    fn seq_cst(&self) -> (Relation, Relation) {
        let accesses = self.only(|event| event.is_seq_cst() && !event.is_fence());
        (accesses, self.only(|event| event.is_seq_cst() && event.is_fence()))
    }
}
