//! Delay bounding: each thread runs until it blocks or ends, in turn, but for a few delays. In come
//! their places; out goes the thread whose turn it is. Knows no accesses.
//! Emmi, Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011: a delay takes the turn
//! from the thread that has it; many bugs need one or two.
//!
//! The paper enumerates; here delays are at random points, and the order of turns is random too:
//! the first threads would else always be those with the first numbers.

use super::change_points::Places;
use super::priorities::Lots;
use super::{THREADS_MAX, View, bit, each};
use crate::core::random::Random;

#[derive(Clone, Debug)]
pub struct Delay {
    /// The order of turns.
    turns: Lots,
    delays: Places,
}

impl Delay {
    pub fn new(delays: Places, threads: usize, random: Random) -> Delay {
        Delay { turns: Lots::new(threads, random), delays }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if let Some(thread) = view.lone() {
            return thread;
        }
        self.delays.pass(1);
        if !self.delays.is_due() && !view.yields && view.runnable & bit(view.current) != 0 {
            return view.current % THREADS_MAX;
        }
        self.pass_on(view)
    }

    /// As [`super::Policy::quiet`], and so on.
    #[inline]
    pub fn quiet(&self) -> u64 {
        self.delays.quiet()
    }

    pub fn skip(&mut self, decisions: u64) {
        self.delays.pass(decisions);
    }

    pub fn operation_ended(&mut self) {
        self.delays.operation_ended();
    }

    fn pass_on(&mut self, view: &View) -> usize {
        self.turns.draw(view.runnable | bit(view.current));
        let among = view.candidates();
        let stays = among & bit(view.current) != 0;
        let mut turn = if stays { view.current } else { self.after(view.current, among) };
        while self.delays.take().is_some() {
            turn = self.after(turn, among);
        }
        turn % THREADS_MAX
    }

    /// Whose turn it is after `thread`: the next higher lot, or from the lowest on.
    fn after(&self, thread: usize, among: u64) -> usize {
        let own = self.turns.of(thread);
        let distance = |other: &usize| self.turns.of(*other).wrapping_sub(own).wrapping_sub(1);
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
                let policy = Policy::new(&Spec::Delay { delays }, seed, &program.outlook());
                // One turn each, and each delay cuts one in two.
                most = most.max(turns(&program.run(policy)));
            }
            assert_eq!(most, 3 + delays as usize);
        }
    }

    #[test]
    fn every_thread_can_be_first() {
        // Thread 0 has the turn at the start.
        let program = Program::new(&["p", "a", "b", "c", "d"]);
        let mut first = [0; 5];
        for seed in 0..400 {
            let policy = Policy::new(&Spec::Delay { delays: 0 }, seed, &program.outlook());
            first[program.run(policy)[1]] += 1;
        }
        assert!(first[1..].iter().all(|count| *count > 50), "{first:?}");
    }
}
