//! Makes random small rounds from a few calls of a round, on few threads, in any order.
//! Removing calls one by one stops at a local minimum. Another distribution of the calls may need
//! fewer: two threads may need more calls than three, or a call may belong on another thread.

use crate::core::plan::{Call, Scenario};
use crate::core::random::Random;

use super::reductions;

/// Fewest calls and most threads of a candidate.
const CALLS_MIN: u64 = 3;
const THREADS_MAX: u64 = 3;
/// Policies with few preemptions; candidates use them in turn.
const POLICIES: [&str; 7] = ["stall", "delay:1", "pct:2", "delay:2", "pct:3", "delay:3", "pct:4"];
/// Separates these draws from others of the same seed.
const RECOMBINE: u64 = 0xdea1;

pub(super) struct Recombiner {
    /// The calls with their threads: once with a single key, once with its keys renumbered.
    pools: [CallPool; 2],
    random: Random,
    /// Each call stays on its thread, because some threads may not make every call.
    pub in_place: bool,
}

struct CallPool {
    calls: Vec<(usize, Call)>,
    base: Scenario,
}

impl CallPool {
    fn new(mut base: Scenario) -> CallPool {
        let threads = std::mem::take(&mut base.threads).into_iter().enumerate();
        let of = |(thread, calls): (usize, Vec<Call>)| calls.into_iter().map(move |c| (thread, c));
        let calls = threads.flat_map(of).collect();
        CallPool { calls, base: Scenario { schedule: None, ..base } }
    }
}

impl Recombiner {
    pub fn new(of: &Scenario, seed: u64) -> Recombiner {
        let pools =
            [reductions::with_one_key(of), reductions::with_small_keys(of)].map(CallPool::new);
        Recombiner { pools, random: Random::derived(seed, &[RECOMBINE]), in_place: false }
    }

    /// About `count` candidates of at most `calls_max` calls each.
    pub fn candidates(&mut self, count: usize, calls_max: usize) -> Vec<Scenario> {
        (0..count).filter_map(|number| self.candidate(number, calls_max as u64)).collect()
    }

    /// None if fewer than two threads have calls, or if a thread has none.
    fn candidate(&mut self, number: usize, calls_max: u64) -> Option<Scenario> {
        let Recombiner { pools, random, in_place } = self;
        let pool = &pools[number % 2];
        let most = calls_max.min(pool.calls.len() as u64);
        let (count, mut drawn) = (random.between(CALLS_MIN.min(most), most), Vec::new());
        while (drawn.len() as u64) < count {
            let at = random.below(pool.calls.len() as u64) as usize;
            if !drawn.contains(&at) {
                drawn.push(at);
            }
        }
        if *in_place {
            drawn.sort_unstable();
        }
        let made_by = pool.calls.last()?.0 + 1;
        let among = if *in_place { made_by as u64 } else { random.between(2, THREADS_MAX) };
        let mut threads = vec![Vec::new(); among as usize];
        for at in drawn {
            let (thread, call) = &pool.calls[at];
            let to = if *in_place { *thread } else { random.below(among) as usize };
            threads[to].push(call.clone());
        }
        let busy = threads.iter().filter(|calls| !calls.is_empty()).count();
        let is_of_use = busy > 1 && (*in_place || busy == threads.len());
        let schedule = Some(POLICIES[number / 2 % POLICIES.len()].to_string());
        is_of_use.then(|| Scenario { threads, schedule, ..pool.base.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;

    fn pushes() -> Scenario {
        let call = |value| Call::new(Op::Push, [value]);
        let threads = (0..4).map(|thread| (1..=5).map(|n| call(10 * thread + n)).collect());
        Scenario { threads: threads.collect(), values: 1, ..Scenario::default() }
    }

    #[test]
    fn candidates_have_few_different_calls_on_few_threads() {
        let mut recombiner = Recombiner::new(&pushes(), 1);
        let candidates = recombiner.candidates(200, 5);
        assert!(candidates.len() > 100);
        for candidate in &candidates {
            let mut values: Vec<i64> =
                candidate.threads.iter().flatten().map(|c| c.args[0]).collect();
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), candidate.calls());
            assert!(
                (3..=5).contains(&candidate.calls()) && (2..=3).contains(&candidate.threads.len())
            );
        }
        let moved = |calls: &Vec<Call>| calls.windows(2).any(|c| c[0].args[0] > c[1].args[0]);
        assert!(candidates.iter().flat_map(|candidate| &candidate.threads).any(moved));
    }

    #[test]
    fn calls_in_place_stay_on_their_threads() {
        let mut recombiner = Recombiner::new(&pushes(), 1);
        recombiner.in_place = true;
        for candidate in recombiner.candidates(100, 6) {
            for (thread, calls) in candidate.threads.iter().enumerate() {
                assert!(calls.iter().all(|call| call.args[0] / 10 == thread as i64));
                assert!(calls.is_sorted_by_key(|call| call.args[0]));
            }
        }
    }
}
