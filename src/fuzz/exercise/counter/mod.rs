//! Counts what rounds exercised; the sums of several counters can be added.
//! Overlaps are analysed only in a sample of the rounds, because that costs more. The number of a
//! round alone decides whether it is in the sample.

use smallvec::SmallVec;

use super::answer::{BUCKETS, bounds, bucket, change, keys, measured};
use super::{Analysed, Answer, Answers, Argument, Exercise, Pair};
use crate::check::Events;
use crate::core::answer::AnswerKind;
use crate::core::history::{History, Operation};
use crate::core::method::METHODS_MAX;
use crate::core::operation::Op;
use crate::core::random::mix;
use crate::trace::judged::{Answered, Judged, is_sampled};

/// The number of calls of a round, or of a part of a long round, that are analysed: the first ones.
pub const ANALYSED_CALLS: usize = 4096;

/// The codes of one family differ in the lowest three bits.
const OPS_OF_FAMILY: usize = 8;
const OPS: usize = METHODS_MAX;
/// Kinds of answers of one operation, and of all.
const KINDS: usize = 8;
const CELLS: usize = OPS * KINDS;
/// Calls that are invoked while this many others or more are pending count as one less.
const DEPTHS: usize = 64;
/// Rounds with more threads count as having this many.
const THREADS_MAX: usize = 1024;

/// Sums over the rounds of one target.
#[derive(Clone)]
pub struct Counter {
    /// The operations, by [`place`].
    ops: [Option<Op>; OPS],
    rounds: u64,
    /// Rounds by number of threads.
    threads: Vec<u64>,
    answers: [u64; CELLS],
    /// For each operation: bit 0, whether the first thread called it; bit 1, whether others did.
    callers: [u8; OPS],
    looked: Analysed,
    arguments: Box<[[u64; BUCKETS]; OPS]>,
    /// Pairs of calls that overlapped, by [`pair`] of their cells, as far as there are any: on a
    /// key in common, or none.
    same: Vec<u64>,
    apart: Vec<u64>,
    depths: [u64; DEPTHS],
    held_max: Option<u64>,
    /// Hashes of the shapes of rounds, to be counted by `Sketch`.
    shapes: Vec<u64>,
}

/// A pending call.
struct Open {
    thread: u32,
    cell: usize,
    keys: (i64, i64),
}

impl Default for Counter {
    fn default() -> Counter {
        Counter {
            ops: [None; OPS],
            rounds: 0,
            threads: Vec::new(),
            answers: [0; CELLS],
            callers: [0; OPS],
            looked: Analysed::default(),
            arguments: Box::new([[0; BUCKETS]; OPS]),
            same: Vec::new(),
            apart: Vec::new(),
            depths: [0; DEPTHS],
            held_max: None,
            shapes: Vec::new(),
        }
    }
}

#[inline]
fn place(op: Op) -> usize {
    match op {
        Op::Method(method) => method.place(),
        op => usize::from(op.code()) % OPS_OF_FAMILY,
    }
}

#[inline]
fn cell(op: Op, outcome: AnswerKind) -> usize {
    place(op) * KINDS + outcome as usize
}

/// The place of a pair of cells, whichever comes first: small for small cells.
#[inline]
fn pair(one: usize, other: usize) -> usize {
    let (low, high) = (one.min(other), one.max(other));
    high * (high + 1) / 2 + low
}

/// What is counted there, if anything.
fn of(sums: &[u64], at: usize) -> u64 {
    sums.get(at).copied().unwrap_or(0)
}

impl Counter {
    /// To be called at the start of a round.
    pub fn begin(&mut self, round: u64, threads: u32) {
        self.rounds += 1;
        self.looked.rounds += u64::from(is_sampled(round));
        let at = (threads as usize).min(THREADS_MAX);
        if self.threads.len() <= at {
            self.threads.resize(at + 1, 0);
        }
        self.threads[at] += 1;
    }

    /// Counts the calls of the round, or of a part of it, without the drain, whose client comes
    /// after the threads.
    pub fn add(&mut self, round: u64, threads: u32, history: &History) {
        self.add_answers(&Answered::count(history, threads));
        if is_sampled(round) {
            self.analyse(threads, history);
        }
    }

    /// Counts a round that the harness judged.
    pub fn add_judged(&mut self, judged: &Judged) {
        self.begin(judged.round, judged.threads);
        self.add_answers(&judged.answers);
    }

    fn add_answers(&mut self, answers: &[Answered]) {
        for &Answered { op, kind, by_first, by_others } in answers {
            self.ops[place(op)] = Some(op);
            self.callers[place(op)] |= u8::from(by_first > 0) | u8::from(by_others > 0) << 1;
            self.answers[cell(op, kind)] += by_first + by_others;
        }
    }

    /// Counts overlaps, arguments and the shape, from invocations and responses in the order of
    /// time.
    fn analyse(&mut self, threads: u32, history: &History) {
        let mut open = SmallVec::<[Open; 16]>::new();
        // Threads are ranked by their first calls, so that their numbers do not matter.
        let mut ranks = SmallVec::<[u8; 16]>::from_elem(u8::MAX, history.threads.len());
        let (mut ranked, mut calls, mut shape, mut held) = (0, 0, 0u64, 0i64);
        for event in Events::new(history) {
            let thread = &history.threads[event.id.thread as usize];
            if thread.client >= threads {
                continue;
            }
            let rank = &mut ranks[event.id.thread as usize];
            if *rank == u8::MAX {
                *rank = ranked;
                ranked = ranked.wrapping_add(1);
            }
            let cell = cell(event.operation.op, AnswerKind::classify(thread, event.operation));
            let step = (u64::from(*rank) << 8 | cell as u64) << 1 | u64::from(event.returns);
            shape = mix(shape ^ step);
            if event.returns {
                let at = open.iter().position(|open| open.thread == event.id.thread);
                open.swap_remove(at.expect("a response follows its invocation"));
                if let Some(change) = change(thread, event.operation) {
                    held = (held + change).max(0);
                    self.held_max = self.held_max.max(Some(held as u64));
                }
                continue;
            }
            calls += 1;
            if calls > ANALYSED_CALLS {
                break;
            }
            self.call(cell, event.operation, thread.args(event.operation), &open);
            let keys = keys(event.operation.op, thread.args(event.operation));
            open.push(Open { thread: event.id.thread, cell, keys });
        }
        self.looked.calls += calls.min(ANALYSED_CALLS) as u64;
        self.shapes.push(shape);
    }

    /// Counts the overlaps of a call that is invoked while others are pending.
    #[inline]
    fn call(&mut self, cell: usize, operation: &Operation, args: &[i64], open: &[Open]) {
        if let Some(value) = measured(operation.op, args) {
            self.arguments[place(operation.op)][bucket(value)] += 1;
        }
        self.depths[open.len().min(DEPTHS - 1)] += 1;
        let (low, high) = keys(operation.op, args);
        for other in open {
            let at = pair(cell, other.cell);
            let meet = low <= other.keys.1 && other.keys.0 <= high;
            let pairs = if meet { &mut self.same } else { &mut self.apart };
            if pairs.len() <= at {
                pairs.resize(at + 1, 0);
            }
            pairs[at] += 1;
        }
    }

    /// Adds the sums of another counter. Returns the hashes of its shapes.
    pub fn join(&mut self, other: Counter) -> Vec<u64> {
        fn add(sums: &mut [u64], more: &[u64]) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        fn add_all(sums: &mut Vec<u64>, more: &[u64]) {
            sums.resize(sums.len().max(more.len()), 0);
            add(sums, more);
        }
        for (op, other) in self.ops.iter_mut().zip(other.ops) {
            *op = op.or(other);
        }
        self.rounds += other.rounds;
        add_all(&mut self.threads, &other.threads);
        add(&mut self.answers, &other.answers);
        self.callers.iter_mut().zip(other.callers).for_each(|(callers, more)| *callers |= more);
        self.looked.rounds += other.looked.rounds;
        self.looked.calls += other.looked.calls;
        add(self.arguments.as_flattened_mut(), other.arguments.as_flattened());
        add_all(&mut self.same, &other.same);
        add_all(&mut self.apart, &other.apart);
        add(&mut self.depths, &other.depths);
        self.held_max = self.held_max.max(other.held_max);
        other.shapes
    }

    /// The number of rounds that were analysed for overlaps.
    pub fn analysed_rounds(&self) -> u64 {
        self.looked.rounds
    }

    /// The number of distinct pairs of answers that overlapped.
    pub fn combinations(&self) -> u64 {
        let pairs = 0..self.same.len().max(self.apart.len());
        pairs.filter(|at| of(&self.same, *at) + of(&self.apart, *at) > 0).count() as u64
    }

    /// The sums, to be stored; `shapes`: the estimated number of distinct shapes.
    pub fn exercise(&self, shapes: u64) -> Exercise {
        let answer = |cell: usize| {
            Some(Answer {
                op: self.ops[cell / KINDS]?,
                outcome: *AnswerKind::ALL.get(cell % KINDS)?,
            })
        };
        let answers = (0..CELLS).filter(|cell| self.answers[*cell] > 0).filter_map(|cell| {
            let (calls, callers) = (self.answers[cell], self.callers[cell / KINDS]);
            Some(Answers { answer: answer(cell)?, calls, callers })
        });
        let arguments = (0..OPS * BUCKETS).filter_map(|at| {
            let (op, bucket) = (self.ops[at / BUCKETS]?, at % BUCKETS);
            let (from, to) = bounds(bucket);
            Some(Argument { op, from, to, calls: self.arguments[at / BUCKETS][bucket] })
        });
        let cells = (0..CELLS).flat_map(|one| (one..CELLS).map(move |other| (one, other)));
        let pairs = cells.filter_map(|(one, other)| {
            let at = pair(one, other);
            let (same, apart) = (of(&self.same, at), of(&self.apart, at));
            let (one, other) = (answer(one)?, answer(other)?);
            Some(Pair { one, other, same, apart })
        });
        let threads = self.threads.iter().enumerate().filter(|(_, rounds)| **rounds > 0);
        let deepest = self.depths.iter().rposition(|calls| *calls > 0).map_or(0, |at| at + 1);
        Exercise {
            rounds: self.rounds,
            threads: threads.map(|(threads, rounds)| (threads as u32, *rounds)).collect(),
            answers: answers.collect(),
            looked: self.looked,
            arguments: arguments.filter(|argument| argument.calls > 0).collect(),
            pairs: pairs.filter(|pair| pair.same + pair.apart > 0).collect(),
            depths: self.depths[..deepest].to_vec(),
            held_max: self.held_max,
            shapes,
        }
    }
}

#[cfg(test)]
mod tests;
