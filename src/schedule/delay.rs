//! Policy delay: each thread runs until it blocks or ends, except at a few random delays.
//! Delay bounding (Emmi, Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011): a delay takes the
//! turn from the current thread. Many bugs need one delay or two.
//!
//! The paper enumerates all schedules. Here the delays are at random points, and the order of the
//! threads is random, or the threads with the lowest numbers would always run first.

use super::change_points::ChangePoints;
use super::priorities::Priorities;
use super::{THREADS_MAX, View, bit, each};
use crate::core::random::Random;

#[derive(Clone, Debug)]
pub struct Delay {
    /// The order of the threads.
    order: Priorities,
    delays: ChangePoints,
}

impl Delay {
    pub fn new(delays: ChangePoints, threads: usize, random: Random) -> Delay {
        Delay { order: Priorities::new(threads, random), delays }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if let Some(thread) = view.only_runnable() {
            return thread;
        }
        self.delays.pass(1);
        if !self.delays.is_due() && !view.yields && view.runnable & bit(view.current) != 0 {
            return view.current % THREADS_MAX;
        }
        self.pass_on(view)
    }

    /// See [`super::Policy::decided_ahead`].
    #[inline]
    pub fn decided_ahead(&self) -> u64 {
        self.delays.decided_ahead()
    }

    pub fn skip(&mut self, decisions: u64) {
        self.delays.pass(decisions);
    }

    pub fn operation_ended(&mut self) {
        self.delays.operation_ended();
    }

    fn pass_on(&mut self, view: &View) -> usize {
        self.order.draw(view.runnable | bit(view.current));
        let among = view.candidates();
        let stays = among & bit(view.current) != 0;
        let mut turn = if stays { view.current } else { self.after(view.current, among) };
        while self.delays.take().is_some() {
            turn = self.after(turn, among);
        }
        turn % THREADS_MAX
    }

    /// The thread of `among` that comes after `thread` in the order, in a circle.
    fn after(&self, thread: usize, among: u64) -> usize {
        let own = self.order.get(thread);
        let distance = |other: &usize| self.order.get(*other).wrapping_sub(own).wrapping_sub(1);
        each(among).min_by_key(distance).unwrap_or(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::{Program, turns};
    use super::super::{Policy, Spec};

    #[test]
    fn never_more_delays_than_allowed() {
        let program = Program::new(&["aaaaaa", "bbbbbb", "cccccc"]);
        for delays in [0, 1, 2, 4] {
            let mut most = 0;
            for seed in 0..500 {
                let policy = Policy::new(&Spec::Delay { delays }, seed, &program.size());
                // Each thread runs once without a break, and each delay adds a break.
                most = most.max(turns(&program.run(policy)));
            }
            assert_eq!(most, 3 + delays as usize);
        }
    }

    #[test]
    fn every_thread_can_be_first() {
        // Thread 0 is the current one at the start.
        let program = Program::new(&["p", "a", "b", "c", "d"]);
        let mut first = [0; 5];
        for seed in 0..400 {
            let policy = Policy::new(&Spec::Delay { delays: 0 }, seed, &program.size());
            first[program.run(policy)[1]] += 1;
        }
        assert!(first[1..].iter().all(|count| *count > 50), "{first:?}");
    }
}
