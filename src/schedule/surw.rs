//! SURW, selectively uniform random walk. In come a profile and the pending accesses; out goes a
//! thread such that all orders of the *interesting* events are equally likely. Zhao, Wolff, Mathur,
//! Roychoudhury: Selectively Uniform Concurrency Testing, ASPLOS 2025, section 3: the thread that
//! is to make the next interesting event is drawn by how many of them each has left; who comes to
//! one out of turn waits. All other events go by random priorities, drawn anew after each.
//!
//! Interesting are all accesses to one address, drawn for the round. Without a profile nothing is.
//! Beyond the paper: all is drawn anew when a thread yields, or others could wait for ever. Does
//! not know which thread creates which; one not seen yet counts with what the profile says of it.

use super::lots::Lots;
use super::{Outlook, THREADS_MAX, View, bit, each};
use crate::random::Random;

#[derive(Clone, Debug)]
pub struct Surw {
    priorities: Lots,
    /// Interesting are accesses to this; 0: none.
    address: u64,
    /// Interesting events that each thread still has, by the profile.
    left: [u32; THREADS_MAX],
    /// Threads that the profile knows and that did not show up yet.
    unseen: u64,
    /// The thread that is to make the next interesting event; empty: to be drawn.
    intended: u64,
}

impl Surw {
    pub fn new(outlook: &Outlook, mut random: Random) -> Surw {
        let entry = outlook.profile.and_then(|known| interesting(&known.counts, &mut random));
        let (address, left) = entry.unwrap_or((0, [0; THREADS_MAX]));
        let known = (0..THREADS_MAX).filter(|thread| left[*thread] != 0);
        let unseen = known.fold(0, |set, thread| set | bit(thread));
        let priorities = Lots::new(outlook.threads, random);
        Surw { priorities, address, left, unseen, intended: 0 }
    }

    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        self.unseen &= !view.runnable;
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
            self.left[chosen] = self.left[chosen].saturating_sub(1);
            self.intended = 0;
        }
        chosen
    }

    /// Which of `among` are about to make an interesting event.
    #[inline]
    fn at_interesting(&self, view: &View, among: u64) -> u64 {
        if self.address == 0 {
            return 0;
        }
        let at = |thread: &usize| view.pending[*thread].address == self.address;
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
            self.intended = self.intend(among | self.unseen, at);
        }
        let free = among & (!at | self.intended);
        if free == 0 {
            // All wait for one that cannot run, or is not there yet.
            self.intended = self.intend(among, at);
            return self.priorities.highest(self.intended);
        }
        self.priorities.highest(free)
    }

    /// One of `among`, by what each has left. Who is `at` an interesting event has one, whatever
    /// the profile says.
    fn intend(&mut self, among: u64, at: u64) -> u64 {
        let left = self.left;
        let weight = |thread: usize| u64::from(left[thread]).max(at >> thread & 1);
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
    /// draws are made anew, threads that may never come are left out, and what the others have left
    /// counts half: in a round that is unlike its profile the weights would hold up some for long.
    fn relent(&mut self) {
        self.intended = 0;
        self.unseen = 0;
        self.priorities.forget(u64::MAX);
        self.left.iter_mut().for_each(|left| *left /= 2);
    }
}

/// An address that several threads access: half of the time any of them, so that seldom used ones
/// have their turn; else by how many accesses are not of its main user.
fn interesting(
    counts: &[(u64, [u32; THREADS_MAX])],
    random: &mut Random,
) -> Option<(u64, [u32; THREADS_MAX])> {
    let contended = |counts: &[u32; THREADS_MAX]| {
        let most = counts.iter().max().copied().unwrap_or(0);
        counts.iter().map(|count| u64::from(*count)).sum::<u64>() - u64::from(most)
    };
    let known = counts.iter().filter(|entry| entry.0 != 0);
    let known: Vec<_> = known.map(|entry| (entry, contended(&entry.1))).collect();
    let mut shared: Vec<_> = known.iter().filter(|(_, contended)| *contended != 0).collect();
    if shared.is_empty() {
        shared = known.iter().collect();
    }
    if shared.is_empty() {
        return None;
    }
    let by_use = random.one_in(2);
    let weight = |contended: u64| if by_use { contended.max(1) } else { 1 };
    let mut drawn = random.below(shared.iter().map(|(_, contended)| weight(*contended)).sum());
    for (entry, contended) in shared {
        if drawn < weight(*contended) {
            return Some(**entry);
        }
        drawn -= weight(*contended);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::super::simulator::{Program, assert_shares, assert_uniform};
    use super::*;

    /// The paper's first example: a random walk is far from it, with five events against one.
    #[test]
    fn orders_of_unlike_threads_are_equally_likely() {
        let orders = ["baaaaa", "abaaaa", "aabaaa", "aaabaa", "aaaaba", "aaaaab"];
        let shares: Vec<_> = orders.iter().map(|order| (*order, 1.0 / 6.0)).collect();
        assert_shares(&Program::new(&["AAAAA", "A"]), &Spec::Surw, &shares);
    }

    #[test]
    fn all_252_orders_of_five_and_five() {
        assert_uniform(&Program::new(&["AAAAA", "AAAAA"]), &Spec::Surw, 'A', 252);
    }

    /// Orders of the interesting events are uniform whatever lies between them.
    #[test]
    fn other_events_change_nothing() {
        let program = Program::new(&["pqrXpqXp", "rXXrrrrrrrrr", "X"]);
        assert_uniform(&program, &Spec::Surw, 'X', 30);
    }

    #[test]
    fn the_address_is_one_of_several_threads() {
        let counts = |of: &[u32]| {
            let mut counts = [0; THREADS_MAX];
            counts[..of.len()].copy_from_slice(of);
            counts
        };
        let known = [(8, counts(&[9, 0, 0])), (16, counts(&[1, 40, 40])), (24, counts(&[1, 0, 1]))];
        let mut seen = [0; 4];
        for seed in 0..1000 {
            let (address, _) =
                interesting(&known, &mut Random::new(seed)).expect("some are shared");
            seen[address as usize / 8] += 1;
        }
        assert_eq!(seen[1], 0);
        assert!(seen[2] > 650 && seen[3] > 200, "{seen:?}");
        assert_eq!(interesting(&known[..1], &mut Random::new(0)).map(|entry| entry.0), Some(8));
        assert_eq!(interesting(&[], &mut Random::new(0)), None);
    }
}
