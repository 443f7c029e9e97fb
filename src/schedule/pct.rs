//! PCT: random priorities, lowered at a few random points. In come the depth and the round's
//! operations; out goes the thread of highest priority. Knows no accesses. Burckhardt, Kothari,
//! Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs,
//! ASPLOS 2010: a bug of depth d in a round of n threads and k steps is found with a probability of
//! at least 1/(n k^(d-1)).
//!
//! Unlike the paper, k is not known before: the points are drawn as [`super::change_points`] says,
//! each step within a small factor as likely as another; the bound is less by that factor to the
//! d-1st.
//! Beyond the paper: a thread that yields falls below all others, or one that spins at the highest
//! priority would spin for ever.

use super::change_points::Places;
use super::priorities::Lots;
use super::{View, bit};
use crate::core::random::Random;

/// Priorities at the change points are this and a bit more, those after a yield less; drawn ones
/// are far above ([`super::priorities::LOWEST`]).
const CHANGED: u64 = 1 << 32;

#[derive(Clone, Debug)]
pub struct Pct {
    priorities: Lots,
    /// Where the current thread's priority is lowered.
    changes: Places,
    /// What the next thread to yield gets.
    yielded: u64,
    /// The answer stays the same as long as no priority changes and the same threads can run.
    runnable: u64,
    best: usize,
}

impl Pct {
    /// `changes`: as many as its depth, less one.
    pub fn new(changes: Places, threads: usize, random: Random) -> Pct {
        let priorities = Lots::new(threads, random);
        Pct { priorities, changes, yielded: CHANGED, runnable: 0, best: 0 }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if let Some(thread) = view.lone() {
            return thread;
        }
        self.changes.pass(1);
        if self.changes.is_due() || view.yields || view.runnable != self.runnable {
            self.decide(view);
        }
        self.best
    }

    /// As [`super::Policy::quiet`], and so on.
    #[inline]
    pub fn quiet(&self) -> u64 {
        self.changes.quiet()
    }

    pub fn skip(&mut self, decisions: u64) {
        self.changes.pass(decisions);
    }

    pub fn operation_ended(&mut self) {
        self.changes.operation_ended();
    }

    fn decide(&mut self, view: &View) {
        self.priorities.draw(view.runnable | bit(view.current));
        while let Some(number) = self.changes.take() {
            // Not lower and lower with time: the i-th drawn gives priority i, wherever it is, for
            // bugs in which a thread that was stopped earlier has to wait longer. Never up: it may
            // have yielded before.
            let lower = (CHANGED + u64::from(number)).min(self.priorities.of(view.current));
            self.priorities.set(view.current, lower);
        }
        if view.yields {
            self.yielded = self.yielded.saturating_sub(1).max(1);
            self.priorities.set(view.current, self.yielded);
        }
        self.runnable = view.runnable;
        self.best = self.priorities.highest(view.runnable);
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::{At, Program, before};
    use super::super::{Kind, Policy};
    use super::*;

    /// How many of 20,000 rounds have all of these pairs (thread, event) in order.
    fn hits(program: &Program, depth: u32, pairs: &[(At, At)]) -> u32 {
        let events = (0..program.threads()).map(|thread| program.length(thread) as u64).sum();
        let rounds = (0..20_000).map(|seed| {
            let mut random = Random::new(seed);
            let changes = Places::uniform(depth - 1, events, Random::new(random.bits()));
            program.run(Policy(Kind::Pct(Pct::new(changes, program.threads(), random))))
        });
        rounds.filter(|order| pairs.iter().all(|(a, b)| before(order, *a, *b))).count() as u32
    }

    /// Against the bound, with room for four standard deviations.
    fn assert_hits(hits: u32, threads: f64, steps: f64, depth: i32, what: &str) {
        let expected = 20_000.0 / (threads * steps.powi(depth - 1));
        let least = expected - 4.0 * expected.sqrt();
        assert!(f64::from(hits) >= least, "{what}: {hits}, guaranteed {expected:.0}");
    }

    #[test]
    fn depth_1_any_thread_before_any_other() {
        let program = Program::new(&["aaa", "bb", "cccc"]);
        for (first, second) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            let last = program.length(first) - 1;
            let hits = hits(&program, 1, &[((first, last), (second, 0))]);
            assert_hits(hits, 3.0, 9.0, 1, &format!("all of {first} before {second}"));
        }
    }

    #[test]
    fn depth_2_any_event_between_any_two() {
        let program = Program::new(&["aaaa", "bbb", "cc"]);
        for (gap, event) in (0..3).flat_map(|gap| (0..3).map(move |event| (gap, event))) {
            let pairs = [((0, gap), (1, event)), ((1, event), (0, gap + 1))];
            let hits = hits(&program, 2, &pairs);
            assert_hits(hits, 3.0, 9.0, 2, &format!("b{event} after a{gap}"));
        }
    }

    #[test]
    fn depth_3_any_two_gaps() {
        let program = Program::new(&["aaaa", "bbbb"]);
        for (gap, event) in (0..3).flat_map(|gap| (0..3).map(move |event| (gap, event))) {
            let (a, b) = ((0, gap), (1, event));
            let pairs = [(a, b), (b, (0, gap + 1)), ((0, gap + 1), (1, event + 1))];
            let hits = hits(&program, 3, &pairs);
            assert_hits(hits, 2.0, 8.0, 3, &format!("a{gap} b{event} and again"));
        }
    }

    /// The thread that is stopped first goes on last, or not: the priorities at the change points
    /// must not follow their order. Needs one order of all three threads, so it is 1/n!, not 1/n.
    #[test]
    fn depth_3_nested() {
        let program = Program::new(&["aa", "bb", "cc"]);
        let pairs = [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((2, 1), (1, 1)), ((1, 1), (0, 1))];
        assert_hits(hits(&program, 3, &pairs), 6.0, 6.0, 3, "nested");
        let pairs = [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((2, 1), (0, 1)), ((0, 1), (1, 1))];
        assert_hits(hits(&program, 3, &pairs), 6.0, 6.0, 3, "crossed");
    }
}
