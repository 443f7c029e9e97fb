//! Policy pct: random thread priorities, lowered at a few random change points.
//! Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic
//! Guarantees of Finding Bugs, ASPLOS 2010: a bug of depth d in a round of n threads and k steps is
//! found with a probability of at least 1/(n k^(d-1)).
//!
//! Unlike in the paper, k is not known before the round. [`super::change_points`] draws the points
//! so that all steps are equally likely up to a small factor f, which lowers the bound by f^(d-1).
//! In addition, a thread that yields falls below all others: at the highest priority it would spin
//! forever.

use super::change_points::ChangePoints;
use super::priorities::Priorities;
use super::{View, bit};
use crate::core::random::Random;

/// Priorities given at change points are at least this, and those given at a yield are lower. Drawn
/// priorities are far higher ([`super::priorities::DRAWN_MIN`]).
const CHANGED: u64 = 1 << 32;

#[derive(Clone, Debug)]
pub struct Pct {
    priorities: Priorities,
    /// The points at which the current thread's priority is lowered.
    changes: ChangePoints,
    /// The last priority given at a yield.
    yielded: u64,
    /// The threads that could run when `best` was computed: it stays valid while these can run and
    /// no priority changes.
    runnable: u64,
    best: usize,
}

impl Pct {
    /// The number of `changes` is the depth minus one.
    pub fn new(changes: ChangePoints, threads: usize, random: Random) -> Pct {
        let priorities = Priorities::new(threads, random);
        Pct { priorities, changes, yielded: CHANGED, runnable: 0, best: 0 }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if let Some(thread) = view.only_runnable() {
            return thread;
        }
        self.changes.pass(1);
        if self.changes.is_due() || view.yields || view.runnable != self.runnable {
            self.decide(view);
        }
        self.best
    }

    /// See [`super::Policy::decided_ahead`].
    #[inline]
    pub fn decided_ahead(&self) -> u64 {
        self.changes.decided_ahead()
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
            // The number of a point gives the priority, not its position in time: some bugs need
            // the thread that was preempted first to wait longest. The minimum never raises the
            // priority of a thread that has yielded.
            let lower = (CHANGED + u64::from(number)).min(self.priorities.get(view.current));
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

    /// In how many of 20,000 rounds all of these pairs of (thread, event) are in order.
    fn hits(program: &Program, depth: u32, pairs: &[(At, At)]) -> u32 {
        let events = (0..program.threads()).map(|thread| program.length(thread) as u64).sum();
        let rounds = (0..20_000).map(|seed| {
            let mut random = Random::new(seed);
            let changes = ChangePoints::uniform(depth - 1, events, Random::new(random.bits()));
            program.run(Policy(Kind::Pct(Pct::new(changes, program.threads(), random))))
        });
        rounds.filter(|order| pairs.iter().all(|(a, b)| before(order, *a, *b))).count() as u32
    }

    /// At least as many as the bound, less four standard deviations.
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

    /// The thread that is preempted first may resume last or second: the priorities at the change
    /// points must not follow the order of the points. The bug needs one order of all three
    /// threads, so the bound has 1/n! instead of 1/n.
    #[test]
    fn depth_3_nested() {
        let program = Program::new(&["aa", "bb", "cc"]);
        let pairs = [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((2, 1), (1, 1)), ((1, 1), (0, 1))];
        assert_hits(hits(&program, 3, &pairs), 6.0, 6.0, 3, "nested");
        let pairs = [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((2, 1), (0, 1)), ((0, 1), (1, 1))];
        assert_hits(hits(&program, 3, &pairs), 6.0, 6.0, 3, "crossed");
    }
}
