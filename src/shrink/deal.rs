//! Calls dealt out anew: the calls of a round come in, rounds of a few of them go out, on few
//! threads, in any order. Leaving out calls ends where none can go by itself; two threads may need
//! more calls than three, and what one thread did first another may have to do. Does not know
//! whether they show anything.

use crate::core::plan::{Call, Scenario};
use crate::core::random::Random;

use super::smaller;

/// Calls of a deal, at least, and threads, at most.
const CALLS_MIN: u64 = 3;
const THREADS_MAX: u64 = 3;
/// Policies that preempt little, in turn.
const POLICIES: [&str; 7] = ["stall", "delay:1", "pct:2", "delay:2", "pct:3", "delay:3", "pct:4"];
/// Sets these draws apart from others of the same seed.
const DEAL: u64 = 0xdea1;

pub(super) struct Dealer {
    /// Calls, with the threads that made them: with all keys the same, and with as few as it has.
    packs: [Pack; 2],
    random: Random,
    /// Each call stays with the thread that made it: some are not for every thread.
    pub in_place: bool,
}

struct Pack {
    calls: Vec<(usize, Call)>,
    base: Scenario,
}

impl Pack {
    fn new(mut base: Scenario) -> Pack {
        let threads = std::mem::take(&mut base.threads).into_iter().enumerate();
        let of = |(thread, calls): (usize, Vec<Call>)| calls.into_iter().map(move |c| (thread, c));
        let calls = threads.flat_map(of).collect();
        Pack { calls, base: Scenario { schedule: None, ..base } }
    }
}

impl Dealer {
    pub fn new(of: &Scenario, seed: u64) -> Dealer {
        let packs = [smaller::with_one_key(of), smaller::with_small_keys(of)].map(Pack::new);
        Dealer { packs, random: Random::derived(seed, &[DEAL]), in_place: false }
    }

    /// So many rounds, each of at most `calls_max` calls.
    pub fn deal(&mut self, count: usize, calls_max: usize) -> Vec<Scenario> {
        (0..count).filter_map(|number| self.one(number, calls_max as u64)).collect()
    }

    /// None where there are too few calls.
    fn one(&mut self, number: usize, calls_max: u64) -> Option<Scenario> {
        let Dealer { packs, random, in_place } = self;
        let pack = &packs[number % 2];
        let most = calls_max.min(pack.calls.len() as u64);
        let (count, mut drawn) = (random.between(CALLS_MIN.min(most), most), Vec::new());
        while (drawn.len() as u64) < count {
            let at = random.below(pack.calls.len() as u64) as usize;
            if !drawn.contains(&at) {
                drawn.push(at);
            }
        }
        if *in_place {
            drawn.sort_unstable();
        }
        let made_by = pack.calls.last()?.0 + 1;
        let among = if *in_place { made_by as u64 } else { random.between(2, THREADS_MAX) };
        let mut threads = vec![Vec::new(); among as usize];
        for at in drawn {
            let (thread, call) = &pack.calls[at];
            let to = if *in_place { *thread } else { random.below(among) as usize };
            threads[to].push(call.clone());
        }
        let busy = threads.iter().filter(|calls| !calls.is_empty()).count();
        let is_of_use = busy > 1 && (*in_place || busy == threads.len());
        let schedule = Some(POLICIES[number / 2 % POLICIES.len()].to_string());
        is_of_use.then(|| Scenario { threads, schedule, ..pack.base.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;

    fn pushes() -> Scenario {
        let call = |value| Call { op: Op::Push, args: vec![value] };
        let threads = (0..4).map(|thread| (1..=5).map(|n| call(10 * thread + n)).collect());
        Scenario { threads: threads.collect(), values: 1, ..Scenario::default() }
    }

    #[test]
    fn deals_are_few_calls_each_once_on_few_threads() {
        let mut dealer = Dealer::new(&pushes(), 1);
        let deals = dealer.deal(200, 5);
        assert!(deals.len() > 100);
        for deal in &deals {
            let mut values: Vec<i64> = deal.threads.iter().flatten().map(|c| c.args[0]).collect();
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), deal.calls());
            assert!((3..=5).contains(&deal.calls()) && (2..=3).contains(&deal.threads.len()));
        }
        let moved = |calls: &Vec<Call>| calls.windows(2).any(|c| c[0].args[0] > c[1].args[0]);
        assert!(deals.iter().flat_map(|deal| &deal.threads).any(moved));
    }

    #[test]
    fn calls_that_are_not_for_every_thread_stay_where_they_are() {
        let mut dealer = Dealer::new(&pushes(), 1);
        dealer.in_place = true;
        for deal in dealer.deal(100, 6) {
            for (thread, calls) in deal.threads.iter().enumerate() {
                assert!(calls.iter().all(|call| call.args[0] / 10 == thread as i64));
                assert!(calls.is_sorted_by_key(|call| call.args[0]));
            }
        }
    }
}
