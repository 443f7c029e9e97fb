//! SURW, selectively uniform random walk. In come the pending accesses and the ends of operations;
//! out goes a thread such that all orders of the *interesting* events are about equally likely.
//! Zhao, Wolff, Mathur, Roychoudhury: Selectively Uniform Concurrency Testing, ASPLOS 2025, section
//! 3: the thread that is to make the next interesting event is drawn by how many of them each has
//! left; who comes to one out of turn waits. All other events go by random priorities, drawn anew
//! after each.
//!
//! Interesting are all accesses to one address. The paper counts them beforehand, in a run of its
//! own; here the address is drawn as accesses come, and what a thread has left is taken to be the
//! operations it has left, times the events that one of its operations had so far: a round costs
//! six tenths, and finds about as much (docs/policies.md). Beyond the paper: all is drawn anew when
//! a thread yields, or others could wait for ever. Does not know which thread creates which.

use super::interest::Interest;
use super::priorities::Lots;
use super::{Outlook, THREADS_MAX, View, bit, each};
use crate::core::random::Random;

/// Makes weights of fractions.
const SCALE: u64 = 1 << 8;

#[derive(Clone, Debug)]
pub struct Surw {
    priorities: Lots,
    interest: Interest,
    threads: [Own; THREADS_MAX],
    /// The thread that is to make the next interesting event; empty: to be drawn.
    intended: u64,
}

/// What is known of a thread.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// Operations that have not ended, at most.
    left: u32,
    /// Of those that have, those since the address is known.
    ended: u16,
    /// Interesting events.
    events: u16,
}

impl Own {
    /// How many interesting events it may have left, in parts of [`SCALE`]. An operation that is
    /// not known to have any is taken to have one.
    fn weight(self) -> u64 {
        let per_operation = SCALE * (1 + u64::from(self.events)) / (1 + u64::from(self.ended));
        u64::from(self.left) * per_operation
    }

    fn forget(&mut self) {
        (self.ended, self.events) = (0, 0);
    }
}

impl Surw {
    pub fn new(outlook: &Outlook, mut random: Random) -> Surw {
        let interest = Interest::new(&mut random);
        let priorities = Lots::new(outlook.threads, random);
        let left = outlook.operations / outlook.threads.max(1) as u64;
        let own = Own { left: left.min(u32::MAX.into()) as u32, ended: 0, events: 0 };
        Surw { priorities, interest, threads: [own; THREADS_MAX], intended: 0 }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        if view.yields {
            self.relent();
        }
        let among = view.candidates();
        let at = self.at_interesting(view, among);
        let chosen = match view.lone() {
            Some(thread) => thread,
            None => self.choose(view.runnable, among, at),
        };
        self.priorities.forget(bit(chosen));
        if at & bit(chosen) != 0 {
            let own = &mut self.threads[chosen];
            own.events = own.events.saturating_add(1);
            self.intended = 0;
        } else if self.interest.find(chosen, view.pending[chosen].address) {
            self.threads.iter_mut().for_each(Own::forget);
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
        let address = self.interest.address();
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
            self.intended = self.intend(among, at);
        }
        let free = among & (!at | self.intended);
        if free == 0 {
            // All wait for one that cannot run.
            self.intended = self.intend(among, at);
            return self.priorities.highest(self.intended);
        }
        self.priorities.highest(free)
    }

    /// One of `among`, by what each may have left. Who is `at` an interesting event has one.
    fn intend(&mut self, among: u64, at: u64) -> u64 {
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

    /// A thread that spins may wait for one that waits for its turn, or has a low priority. So all
    /// draws are made anew, and what it did while it span says nothing of what it has left.
    fn relent(&mut self) {
        self.intended = 0;
        self.priorities.forget(u64::MAX);
        self.threads.iter_mut().for_each(Own::forget);
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulator::{Program, assert_uniform, orders};
    use super::super::{Kind, Policy};
    use super::*;

    /// Accesses to the letter X are interesting from the start.
    fn at_x(program: &Program) -> impl Fn(u64) -> Policy {
        let outlook = program.outlook();
        move |seed| {
            let interest = Interest::of(0x1000 + 8 * u64::from(b'x'));
            let surw = Surw { interest, ..Surw::new(&outlook, Random::new(seed)) };
            Policy(Kind::Surw(Box::new(surw)))
        }
    }

    #[test]
    fn all_252_orders_of_five_and_five() {
        let program = Program::new(&["X;X;X;X;X", "X;X;X;X;X"]);
        assert_uniform(&program, at_x(&program), 'X', 252);
    }

    /// Orders of the interesting events are uniform whatever lies between them.
    #[test]
    fn other_events_change_nothing() {
        let program = Program::new(&["pqrX;pqX", "rrrX;rrXrrrrrrrrr", "X;X"]);
        assert_uniform(&program, at_x(&program), 'X', 90);
    }

    /// How many events operations have is learnt in the round: although one thread has three times
    /// as many as the other, the orders are as many as 1246 equally likely ones (two to the
    /// entropy). With the threads equally likely at each event it would be 247 of the 1820.
    #[test]
    fn what_operations_have_is_learnt() {
        let program = Program::new(&["XqXX;XqXX;XqXX;XqXX", "X;X;X;X"]);
        let rounds = 182_000;
        let seen = orders(&program, at_x(&program), Some('X'), rounds);
        let shares = seen.values().map(|count| *count as f64 / rounds as f64);
        let entropy: f64 = shares.map(|share| -share * share.log2()).sum();
        assert!(entropy.exp2() > 1150.0, "{}", entropy.exp2());
    }
}
