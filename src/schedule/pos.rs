//! Policy pos: random priorities of events, drawn again for the events that race.
//! Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018: when an event is executed,
//! the pending events that race with it (same address, one of them a write) get new priorities, and
//! so does the thread that executed it. So the order of each race is independent of earlier races.
//!
//! In addition, when a thread yields, all priorities are drawn again and the thread is not chosen:
//! otherwise threads with low priorities could wait forever for one that spins.

use super::priorities::Priorities;
use super::{View, bit, each};
use crate::core::random::Random;

#[derive(Clone, Debug)]
pub struct Pos {
    priorities: Priorities,
}

impl Pos {
    pub fn new(threads: usize, random: Random) -> Pos {
        Pos { priorities: Priorities::new(threads, random) }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if view.yields {
            self.priorities.redraw(u64::MAX);
        }
        let chosen = match view.only_runnable() {
            Some(thread) => thread,
            None => {
                self.priorities.draw(view.runnable);
                self.priorities.highest(view.candidates())
            }
        };
        self.priorities.redraw(bit(chosen) | self.racing(chosen, view));
        chosen
    }

    /// Threads, including blocked ones, whose pending event races with that of `thread`.
    #[inline]
    fn racing(&self, thread: usize, view: &View) -> u64 {
        let event = view.pending[thread];
        if event.address == 0 {
            return 0;
        }
        let races = |other: &usize| view.pending[*other].races(event);
        each(self.priorities.drawn()).filter(races).fold(0, |set, other| set | bit(other))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::super::simulator::{Program, assert_shares};

    /// Two writes of one thread and one of another: if the first race did not redraw priorities,
    /// the shares would be 1/2, 1/6, 1/3.
    #[test]
    fn each_race_redraws_priorities() {
        let program = Program::new(&["XX", "X"]);
        let shares = [("baa", 1.0 / 2.0), ("aba", 1.0 / 4.0), ("aab", 1.0 / 4.0)];
        assert_shares(&program, &Spec::Pos, &shares);
    }

    /// Reads of one address do not race; neither do writes of different ones: the event with the
    /// lowest priority of its thread decides.
    #[test]
    fn without_races_priorities_stay() {
        let shares = [("baa", 1.0 / 2.0), ("aba", 1.0 / 6.0), ("aab", 1.0 / 3.0)];
        assert_shares(&Program::new(&["xx", "x"]), &Spec::Pos, &shares);
        assert_shares(&Program::new(&["XY", "Z"]), &Spec::Pos, &shares);
    }

    /// A read races with the other thread's write, in either order.
    #[test]
    fn a_read_races_with_a_write() {
        let shares = [("baa", 1.0 / 2.0), ("aba", 1.0 / 4.0), ("aab", 1.0 / 4.0)];
        assert_shares(&Program::new(&["xx", "X"]), &Spec::Pos, &shares);
        assert_shares(&Program::new(&["XX", "x"]), &Spec::Pos, &shares);
    }

    /// Thread b is last only if its write has the lowest priority of the five events.
    #[test]
    fn a_write_is_last_only_with_the_lowest_priority() {
        let shares = [("aaaab", 1.0 / 5.0)];
        assert_shares(&Program::new(&["pqrX", "X"]), &Spec::Pos, &shares);
    }
}
