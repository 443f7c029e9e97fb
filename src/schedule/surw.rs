//! Policy surw: all orders of the accesses to one address are about equally likely.
//! Selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury: Selectively Uniform
//! Concurrency Testing, ASPLOS 2025, section 3): the thread that makes the next interesting event
//! is drawn in proportion to the interesting events that each thread has left, and the others wait
//! before theirs. All other events have random priorities, drawn again after each event.
//!
//! The interesting events are the accesses to one address. The paper counts them in a separate run
//! beforehand. Here the address is drawn while accesses arrive, and the events that a thread has
//! left are estimated: its remaining operations times the events per operation so far. A round
//! costs six tenths and finds about as much (docs/policies.md). In addition, everything is drawn
//! again when a thread yields, because others could wait forever. Unlike the paper, this ignores
//! which thread creates which.

use super::interesting::InterestingAddress;
use super::priorities::Priorities;
use super::{RoundSize, THREADS_MAX, View, bit, each};
use crate::core::random::Random;

/// Weights are fractions in units of 1/256.
const SCALE: u64 = 1 << 8;

#[derive(Clone, Debug)]
pub struct Surw {
    priorities: Priorities,
    interesting: InterestingAddress,
    threads: [ThreadEvents; THREADS_MAX],
    /// The thread that makes the next interesting event, as a set; empty: not drawn yet.
    intended: u64,
}

/// The counts from which a thread's remaining interesting events are estimated.
#[derive(Clone, Copy, Debug)]
struct ThreadEvents {
    /// Upper bound of the operations that have not ended.
    left: u32,
    /// Operations that ended since the address is known.
    ended: u16,
    /// Interesting events since then.
    events: u16,
}

impl ThreadEvents {
    /// The estimate of its remaining interesting events, times [`SCALE`]. It starts with one event
    /// per operation.
    fn weight(self) -> u64 {
        let per_operation = SCALE * (1 + u64::from(self.events)) / (1 + u64::from(self.ended));
        u64::from(self.left) * per_operation
    }

    fn reset(&mut self) {
        (self.ended, self.events) = (0, 0);
    }
}

impl Surw {
    pub fn new(size: &RoundSize, mut random: Random) -> Surw {
        let interesting = InterestingAddress::new(&mut random);
        let priorities = Priorities::new(size.threads, random);
        let left = size.operations / size.threads.max(1) as u64;
        let thread = ThreadEvents { left: left.min(u32::MAX.into()) as u32, ended: 0, events: 0 };
        Surw { priorities, interesting, threads: [thread; THREADS_MAX], intended: 0 }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if view.yields {
            self.redraw_all();
        }
        let among = view.candidates();
        let at = self.at_interesting(view, among);
        let chosen = match view.only_runnable() {
            Some(thread) => thread,
            None => self.choose(view.runnable, among, at),
        };
        self.priorities.redraw(bit(chosen));
        if at & bit(chosen) != 0 {
            let own = &mut self.threads[chosen];
            own.events = own.events.saturating_add(1);
            self.intended = 0;
        } else if self.interesting.observe(chosen, view.pending[chosen].address) {
            self.threads.iter_mut().for_each(ThreadEvents::reset);
        }
        chosen
    }

    pub fn operation_ended(&mut self, thread: usize) {
        let own = &mut self.threads[thread % THREADS_MAX];
        own.left = own.left.saturating_sub(1);
        own.ended = own.ended.saturating_add(1);
    }

    /// Which of `among` are about to make an interesting event.
    #[inline]
    fn at_interesting(&self, view: &View, among: u64) -> u64 {
        let address = self.interesting.address();
        if address == 0 {
            return 0;
        }
        let at = |thread: &usize| view.pending[*thread].address == address;
        each(among).filter(at).fold(0, |set, thread| set | bit(thread))
    }

    #[inline]
    fn choose(&mut self, runnable: u64, among: u64, at: u64) -> usize {
        self.priorities.draw(runnable);
        let first = self.priorities.highest(among);
        if at & bit(first) == 0 {
            return first;
        }
        if self.intended == 0 {
            self.intended = self.draw_intended(among, at);
        }
        let free = among & (!at | self.intended);
        if free == 0 {
            // All of them wait before an interesting event for a thread that cannot run.
            self.intended = self.draw_intended(among, at);
            return self.priorities.highest(self.intended);
        }
        self.priorities.highest(free)
    }

    /// Draws one of `among` in proportion to the interesting events that each has left. A thread
    /// that is `at` one has at least one left.
    fn draw_intended(&mut self, among: u64, at: u64) -> u64 {
        let threads = &self.threads;
        let weight = |thread: usize| threads[thread].weight().max(at >> thread & 1);
        let total = each(among).map(weight).sum();
        let mut drawn = self.priorities.random().below(total);
        for thread in each(among) {
            if drawn < weight(thread) {
                return bit(thread);
            }
            drawn -= weight(thread);
        }
        at & at.wrapping_neg()
    }

    /// A spinning thread may wait for one that waits before its interesting event or has a low
    /// priority, so everything is drawn again. The counts start again, because the events of a spin
    /// loop say nothing about an operation.
    fn redraw_all(&mut self) {
        self.intended = 0;
        self.priorities.redraw(u64::MAX);
        self.threads.iter_mut().for_each(ThreadEvents::reset);
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::{Program, assert_uniform, orders};
    use super::super::{Kind, Policy};
    use super::*;

    /// Accesses to the letter X are interesting from the start.
    fn at_x(program: &Program) -> impl Fn(u64) -> Policy {
        let size = program.size();
        move |seed| {
            let interesting = InterestingAddress::fixed(0x1000 + 8 * u64::from(b'x'));
            let surw = Surw { interesting, ..Surw::new(&size, Random::new(seed)) };
            Policy(Kind::Surw(Box::new(surw)))
        }
    }

    #[test]
    fn all_252_orders_of_five_and_five() {
        let program = Program::new(&["X;X;X;X;X", "X;X;X;X;X"]);
        assert_uniform(&program, at_x(&program), 'X', 252);
    }

    /// Orders of the interesting events are uniform, whatever events are between them.
    #[test]
    fn other_events_change_nothing() {
        let program = Program::new(&["pqrX;pqX", "rrrX;rrXrrrrrrrrr", "X;X"]);
        assert_uniform(&program, at_x(&program), 'X', 90);
    }

    /// The number of events per operation is learnt during the round: although one thread has three
    /// times as many as the other, the entropy is that of 1246 equally likely orders, of 1820. If
    /// the threads were equally likely at each event it would be that of 247.
    #[test]
    fn the_events_per_operation_are_learnt() {
        let program = Program::new(&["XqXX;XqXX;XqXX;XqXX", "X;X;X;X"]);
        let rounds = 182_000;
        let seen = orders(&program, at_x(&program), Some('X'), rounds);
        let shares = seen.values().map(|count| *count as f64 / rounds as f64);
        let entropy: f64 = shares.map(|share| -share * share.log2()).sum();
        assert!(entropy.exp2() > 1150.0, "{}", entropy.exp2());
    }
}
