//! POS: random priorities of events. In come the pending accesses; out goes the thread whose event
//! has the highest priority. Yuan, Yang, Gu: Partial Order Aware Concurrency Sampling, CAV 2018:
//! once an event is executed, those pending that race with it (same address, one a
//! write) draw anew, as does the thread that executed it; so the order of each race is drawn
//! independently of the races before. Knows no lengths.
//!
//! Beyond the paper: when a thread yields all draw anew and it is not chosen, or threads with
//! low priorities would wait for ever for one that spins.

use super::priorities::Lots;
use super::{View, bit, each};
use crate::core::random::Random;

#[derive(Clone, Debug)]
pub struct Pos {
    priorities: Lots,
}

impl Pos {
    pub fn new(threads: usize, random: Random) -> Pos {
        Pos { priorities: Lots::new(threads, random) }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if view.yields {
            self.priorities.forget(u64::MAX);
        }
        let chosen = match view.lone() {
            Some(thread) => thread,
            None => {
                self.priorities.draw(view.runnable);
                self.priorities.highest(view.candidates())
            }
        };
        self.priorities.forget(bit(chosen) | self.racing(chosen, view));
        chosen
    }

    /// Threads, blocked ones too, whose pending event races with that of `thread`.
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

    /// Two writes of one thread and one of another: without redrawing after the first race it
    /// would be 1/2, 1/6, 1/3.
    #[test]
    fn each_race_is_drawn_anew() {
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

    /// n events of the others before it: the one racing write comes first unless its priority is
    /// higher than that of none of them.
    #[test]
    fn local_events_delay() {
        let shares = [("aaaab", 1.0 / 5.0)];
        assert_shares(&Program::new(&["pqrX", "X"]), &Spec::Pos, &shares);
    }
}
