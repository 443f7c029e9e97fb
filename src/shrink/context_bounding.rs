//! Tries all schedules with few preemptions, the fewest first: iterative context bounding.
//! Musuvathi, Qadeer: Iterative Context Bounding for Systematic Testing of Multithreaded Programs,
//! PLDI 2007: switches where a thread ends or blocks are free, and few others are needed. If there
//! are too many schedules, a sample is drawn.

use anyhow::Result;

use super::minimize_preemptions;
use super::search::{Search, Shown};
use crate::core::plan::{Plan, Scenario};
use crate::core::random::Random;
use crate::schedule::{Spec, Switch};

/// Larger rounds have too many schedules.
const CALLS_MAX: usize = 8;
const THREADS_MAX: usize = 3;
/// Most preemptions.
const FORCED_MAX: u64 = 3;
/// Most schedules for each number of preemptions.
const SCHEDULES_MAX: u64 = 80_000;
/// Schedules tried in one process.
const BATCH: usize = 4_000;
/// Steps before the first call at which a thread may be preempted.
const STEPS_BEFORE: u64 = 2;

/// Replaces the best by a round with fewer preemptions, the fewest possible. Returns whether it
/// did.
pub(super) fn fewest(search: &Search, best: &mut Shown) -> Result<bool> {
    let threads = best.scenario().threads.len();
    if best.list().is_none() {
        return Ok(false);
    }
    if best.scenario().calls() > CALLS_MAX || !(2..=THREADS_MAX).contains(&threads) {
        return Ok(false);
    }
    for forced in 0..best.cost().0.min(FORCED_MAX + 1) {
        let mut all = Schedules::for_round(best, forced);
        while !search.is_over() {
            let scenarios = all.next(BATCH);
            let rounds = 0..scenarios.len() as u64;
            if rounds.is_empty() {
                break;
            }
            let mut plan = Plan { scenarios, ..best.plan.clone() };
            plan.control.policy = None;
            // A target may refuse calls on another thread: then only the original order is tried.
            match search.look(&plan, rounds, forced) {
                Ok(Some(shown)) if shown.cost().0 < best.cost().0 => {
                    *best = shown;
                    minimize_preemptions::fewer_turns(search, best)?;
                    return Ok(true);
                }
                Ok(_) => {}
                Err(_) => all.orders.truncate(1),
            }
        }
    }
    Ok(false)
}

/// Enumerates the schedules with a given number of preemptions. Each switches to another thread
/// than the one before, which is the current one unless it blocked or ended.
struct Schedules {
    /// The calls with the threads in each order: when a thread ends, the first runs next.
    orders: Vec<Scenario>,
    order: usize,
    /// The first and the last step at which a switch can matter.
    steps: (u64, u64),
    /// The steps of the switches, in order.
    at: Vec<u64>,
    /// For each switch: the difference of the thread numbers, modulo the number of threads.
    higher: Vec<usize>,
    threads: usize,
    /// If there are too many: the generator, and the schedules still to draw.
    drawn: Option<(Random, u64)>,
}

impl Schedules {
    fn for_round(best: &Shown, forced: u64) -> Schedules {
        let round = &best.sighting.round;
        let calls = || {
            let callers = round.history.threads.iter().take(best.scenario().threads.len());
            callers.flat_map(|thread| thread.operations())
        };
        let first = calls().map(|call| call.start).min().unwrap_or(0).saturating_sub(STEPS_BEFORE);
        let starts = calls().map(|call| call.start);
        let ends = calls().map(|call| call.end).filter(|end| *end != u64::MAX);
        let last = starts.chain(ends).max().unwrap_or(0).max(first);
        Schedules::between(best.scenario(), (first, last), forced)
    }

    /// The scenario has two threads or more.
    fn between(scenario: &Scenario, steps: (u64, u64), forced: u64) -> Schedules {
        let (threads, orders) = (scenario.threads.len(), orders(scenario));
        let places = steps.1 - steps.0 + 1;
        let chosen = (0..forced).fold(1u64, |all, n| all * places.saturating_sub(n) / (n + 1));
        let ways = (threads as u64 - 1).saturating_pow(forced as u32);
        let all = chosen.saturating_mul(ways).saturating_mul(orders.len() as u64);
        let drawn = (all > SCHEDULES_MAX).then(|| (Random::new(steps.1), SCHEDULES_MAX));
        let at = (steps.0..).take(forced as usize).collect();
        let higher = vec![1; forced as usize];
        Schedules { orders, order: 0, steps, at, higher, threads, drawn }
    }

    fn next(&mut self, count: usize) -> Vec<Scenario> {
        std::iter::from_fn(|| self.one()).take(count).collect()
    }

    fn one(&mut self) -> Option<Scenario> {
        if let Some((random, left)) = &mut self.drawn {
            *left = left.checked_sub(1)?;
            self.order = random.below(self.orders.len() as u64) as usize;
            self.at.fill_with(|| random.between(self.steps.0, self.steps.1));
            self.at.sort_unstable();
            self.higher.fill_with(|| random.between(1, self.threads as u64 - 1) as usize);
            return self.orders.get(self.order).map(|scenario| self.scheduled(scenario));
        }
        let scenario = self.orders.get(self.order).map(|scenario| self.scheduled(scenario))?;
        self.order += 1;
        if self.order >= self.orders.len() && self.advance() {
            self.order = 0;
        }
        Some(scenario)
    }

    fn scheduled(&self, scenario: &Scenario) -> Scenario {
        let to = self.higher.iter().scan(0, |thread, higher| {
            *thread = (*thread + higher) % self.threads;
            Some(*thread)
        });
        let switches = self.at.iter().zip(to).map(|(step, thread)| Switch { step: *step, thread });
        let schedule = Some(Spec::List(switches.collect()).to_string());
        Scenario { schedule, ..scenario.clone() }
    }

    /// Moves on to the next threads to switch to, or to the next steps. Returns whether there are
    /// any.
    fn advance(&mut self) -> bool {
        for higher in &mut self.higher {
            if *higher + 1 < self.threads {
                *higher += 1;
                return true;
            }
            *higher = 1;
        }
        let count = self.at.len();
        let room = |at: usize| self.steps.1.saturating_sub((count - 1 - at) as u64);
        let Some(at) = (0..count).rev().find(|at| self.at[*at] < room(*at)) else { return false };
        let next = self.at[at] + 1;
        self.at[at..].iter_mut().zip(next..).for_each(|(step, next)| *step = next);
        true
    }
}

/// The same calls with the threads in each order, its own first.
fn orders(scenario: &Scenario) -> Vec<Scenario> {
    let mut orders = vec![Vec::new()];
    for thread in 0..scenario.threads.len() {
        let with = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).rev().map(move |at| {
                let mut order = order.clone();
                order.insert(at, thread);
                order
            })
        };
        orders = orders.iter().flat_map(with).collect();
    }
    let of = |order: &Vec<usize>| {
        let threads = order.iter().map(|thread| scenario.threads[*thread].clone()).collect();
        Scenario { threads, ..scenario.clone() }
    };
    orders.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::Op;
    use crate::core::plan::Call;
    use std::collections::BTreeSet;

    fn scenario(threads: usize) -> Scenario {
        let calls = |thread| vec![Call::new(Op::Push, [thread as i64])];
        Scenario { threads: (0..threads).map(calls).collect(), ..Scenario::default() }
    }

    fn texts(schedules: Vec<Scenario>) -> BTreeSet<String> {
        let first = |scenario: &Scenario| scenario.threads[0][0].args[0];
        let text = |s: &Scenario| format!("{} {}", first(s), s.schedule.as_deref().unwrap_or(""));
        schedules.iter().map(text).collect()
    }

    #[test]
    fn every_schedule_once() {
        let of = |forced| Schedules::between(&scenario(2), (5, 9), forced).next(10_000);
        assert_eq!(texts(of(0)), ["0 list", "1 list"].map(String::from).into());
        // Five steps, two orders.
        assert_eq!((of(1).len(), texts(of(1)).len()), (10, 10));
        assert_eq!((of(2).len(), texts(of(2)).len()), (20, 20));
        assert!(texts(of(2)).contains("1 list:5@1,9@0"));
        let three = Schedules::between(&scenario(3), (5, 9), 2).next(10_000);
        assert_eq!((three.len(), texts(three).len()), (10 * 4 * 6, 10 * 4 * 3));
    }

    #[test]
    fn too_many_schedules_are_sampled() {
        let mut all = Schedules::between(&scenario(3), (0, 100), 3);
        let some = all.next(1000);
        assert_eq!(some.len(), 1000);
        assert!(texts(some).len() > 900);
        assert_eq!(all.next(SCHEDULES_MAX as usize).len(), SCHEDULES_MAX as usize - 1000);
        assert_eq!(orders(&scenario(3)).len(), 6);
        assert_eq!(orders(&scenario(3))[0], scenario(3));
    }
}
