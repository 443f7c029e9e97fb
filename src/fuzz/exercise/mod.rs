//! Counts what a run exercised: operations with their answers and arguments, and their overlaps.
//! [`Counter`] counts rounds, an [`Exercise`] stores the sums, and [`gaps`] lists what never
//! happened, with options that may make it happen.
//!
//! - `answer`: Says which answers a call is expected to give, and classifies its arguments and its
//!   keys.
//! - `counter/`: Counts what rounds exercised; the sums of several counters can be added.
//! - `gaps`: Lists what a run never exercised, with options that may exercise it.

mod answer;
mod counter;
mod gaps;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::core::answer::AnswerKind;
use crate::core::operation::Op;

pub use answer::{BUCKETS, Measure, bounds, bucket, expected, has_keys, measure};
pub use counter::{ANALYSED_CALLS, Counter};
pub use gaps::{Gap, Offer, gaps, pairs_of_answers};

/// What rounds exercised. Calls of the drain and sequential rounds do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exercise {
    pub rounds: u64,
    /// Rounds by the number of threads that called at once.
    pub threads: BTreeMap<u32, u64>,
    /// How often each kind of answer was given.
    pub answers: Vec<Answers>,
    /// The calls that were analysed for the counts below.
    pub looked: Analysed,
    /// How often each argument was given.
    pub arguments: Vec<Argument>,
    /// How often calls with these answers overlapped.
    pub pairs: Vec<Pair>,
    /// Calls by the number of others that were pending at their invocation, from 0.
    pub depths: Vec<u64>,
    /// The most elements that a structure held at once in the rounds that were analysed, as its
    /// answers say; none if it is not one of elements.
    #[serde(default)]
    pub held_max: Option<u64>,
    /// Estimated number of distinct orders of invocations and responses, whatever their values.
    pub shapes: u64,
}

/// The sample that was analysed for overlaps: the first [`ANALYSED_CALLS`] calls of the rounds of
/// [`is_sampled`](crate::trace::judged::is_sampled).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysed {
    pub rounds: u64,
    pub calls: u64,
}

/// A call with its kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Answer {
    #[serde(rename = "operation")]
    pub op: Op,
    pub outcome: AnswerKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    #[serde(flatten)]
    pub answer: Answer,
    pub calls: u64,
    /// Which threads called the operation: 1, the first one; 2, others; 3, both.
    pub callers: u8,
}

/// Calls with an argument in this range, which is one number if it is small. [`measure`] says what
/// the argument means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    #[serde(rename = "operation")]
    pub op: Op,
    pub from: u64,
    pub to: u64,
    pub calls: u64,
}

/// Calls that overlapped; `one` is not above `other`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub one: Answer,
    pub other: Answer,
    /// How often on a key in common, or without keys.
    pub same: u64,
    pub apart: u64,
}

impl Answer {
    /// "insert true", "dequeue empty".
    pub fn words(self) -> String {
        format!("{} {}", self.op.name(), self.outcome.words(self.op))
    }
}

impl Exercise {
    /// Whether arguments and overlaps were counted in a part of the rounds only.
    pub fn is_sampled(&self) -> bool {
        self.looked.rounds < self.rounds
    }

    /// Calls of the operation, with any answer.
    pub fn calls(&self, op: Op) -> u64 {
        self.answers.iter().filter(|a| a.answer.op == op).map(|a| a.calls).sum()
    }

    /// How often two operations overlapped: on a key in common (or without keys), and on others.
    pub fn overlaps(&self, one: Op, other: Op) -> (u64, u64) {
        let is_theirs = |pair: &&Pair| {
            let ops = (pair.one.op, pair.other.op);
            ops == (one, other) || ops == (other, one)
        };
        let theirs = self.pairs.iter().filter(is_theirs);
        theirs.fold((0, 0), |(same, apart), pair| (same + pair.same, apart + pair.apart))
    }

    /// Whether calls of both can overlap: not if only one thread made them, the first one or, of
    /// two, the other.
    pub fn may_overlap(&self, one: Op, other: Op) -> bool {
        let callers = |op: Op| {
            let of = self.answers.iter().filter(|a| a.answer.op == op);
            of.fold(0, |callers, answers| callers | answers.callers)
        };
        let are_two = self.threads.keys().next_back().is_some_and(|most| *most <= 2);
        match callers(one) | callers(other) {
            1 => false,
            2 => !are_two,
            _ => true,
        }
    }

    /// The mean and the maximum number of pending calls at an invocation, itself included.
    pub fn concurrency(&self) -> (f64, usize) {
        let calls: u64 = self.depths.iter().sum();
        let at_once = self.depths.iter().zip(1u64..).map(|(calls, at_once)| calls * at_once);
        (at_once.sum::<u64>() as f64 / calls.max(1) as f64, self.depths.len())
    }

    /// Adds that of another run. Shapes of both count twice.
    pub fn join(&mut self, other: Exercise) {
        self.rounds += other.rounds;
        for (threads, rounds) in other.threads {
            *self.threads.entry(threads).or_default() += rounds;
        }
        self.looked.rounds += other.looked.rounds;
        self.looked.calls += other.looked.calls;
        let join_answers = |sum: &mut Answers, more: Answers| {
            sum.calls += more.calls;
            sum.callers |= more.callers;
        };
        let join_pairs = |sum: &mut Pair, more: Pair| {
            sum.same += more.same;
            sum.apart += more.apart;
        };
        let join_arguments = |sum: &mut Argument, more: Argument| sum.calls += more.calls;
        add(&mut self.answers, other.answers, |a| a.answer, join_answers);
        add(&mut self.arguments, other.arguments, |a| (a.op, a.from), join_arguments);
        add(&mut self.pairs, other.pairs, |pair| (pair.one, pair.other), join_pairs);
        self.depths.resize(self.depths.len().max(other.depths.len()), 0);
        self.depths.iter_mut().zip(other.depths).for_each(|(sum, more)| *sum += more);
        self.held_max = self.held_max.max(other.held_max);
        self.shapes += other.shapes;
    }
}

/// Adds up items with the same key; the result is sorted by key.
fn add<T, K: Ord>(
    sums: &mut Vec<T>,
    more: Vec<T>,
    key: impl Fn(&T) -> K,
    join: impl Fn(&mut T, T),
) {
    let mut joined: BTreeMap<K, T> = BTreeMap::new();
    for item in sums.drain(..).chain(more) {
        match joined.entry(key(&item)) {
            std::collections::btree_map::Entry::Occupied(mut sum) => join(sum.get_mut(), item),
            std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(item)),
        }
    }
    *sums = joined.into_values().collect();
}
