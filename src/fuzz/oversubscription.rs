//! Warns once when native rounds with more threads than processors are far slower than others.
//! Their threads spin while the thread that they wait for has no processor.

use std::time::Instant;

use super::Warning;
use crate::trace::records::SIZE_MIN;

/// Least time in oversubscribed rounds before a warning.
const SECONDS_MIN: f64 = 5.0;
/// Least number of rounds with a processor for each thread, for comparison.
const FITTING_MIN: u64 = 3;
/// Shared processors and stalls make calls a few times slower. More than this is spinning.
const TIMES_SLOWER: f64 = 20.0;

pub struct CallRates {
    /// Threads that can run at once.
    processors: u32,
    /// Rounds with a processor for each thread.
    fitting: Sum,
    /// Rounds with more threads than processors.
    oversubscribed: Sum,
    /// The current round, and when it was first seen.
    seen: (u64, Instant),
    is_warned: bool,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    rounds: u64,
    calls: u64,
    seconds: f64,
}

impl CallRates {
    pub fn new() -> CallRates {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        CallRates::with(processors)
    }

    fn with(processors: u32) -> CallRates {
        CallRates {
            processors,
            fitting: Sum::default(),
            oversubscribed: Sum::default(),
            seen: (u64::MAX, Instant::now()),
            is_warned: false,
        }
    }

    /// Adds a finished round.
    pub fn add(&mut self, threads: u32, calls: u64, calls_per_second: f64) {
        if calls > 0 && calls_per_second > 0.0 {
            let fits = threads <= self.processors;
            let sum = if fits { &mut self.fitting } else { &mut self.oversubscribed };
            sum.add(calls, calls as f64 / calls_per_second);
        }
    }

    /// Observes the current round. Returns the warning if such rounds are slow and it was not given
    /// yet.
    pub fn observe(&mut self, round: u64, threads: u32, bytes: u64) -> Option<Warning> {
        if self.seen.0 != round {
            self.seen = (round, Instant::now());
        }
        let seconds = self.seen.1.elapsed().as_secs_f64();
        // This estimate of the calls is rather too high: most records are longer.
        let times = self.times_slower(threads, bytes / SIZE_MIN as u64, seconds);
        let times_slower = times.filter(|_| !self.is_warned)? as u64;
        self.is_warned = true;
        Some(Warning::Oversubscribed { processors: self.processors, times_slower })
    }

    /// How much longer a call takes in such rounds, if it is far longer when the current round has
    /// made `calls` in `seconds`.
    fn times_slower(&self, threads: u32, calls: u64, seconds: f64) -> Option<f64> {
        let mut this = Sum::default();
        if threads > self.processors {
            this.add(calls.max(1), seconds);
        }
        // All such rounds together, or the current one alone.
        let long = [self.oversubscribed, this].into_iter().filter(|sum| sum.seconds >= SECONDS_MIN);
        let slower = |sum: Sum| sum.seconds_per_call() / self.fitting.seconds_per_call();
        let times = long.map(slower).fold(0.0, f64::max);
        (self.fitting.rounds >= FITTING_MIN && times >= TIMES_SLOWER).then_some(times)
    }
}

impl Sum {
    fn add(&mut self, calls: u64, seconds: f64) {
        self.rounds += 1;
        self.calls += calls;
        self.seconds += seconds;
    }

    fn seconds_per_call(&self) -> f64 {
        self.seconds / self.calls as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(fitting_rounds: u64, calls_per_second: f64) -> CallRates {
        let mut rates = CallRates::with(2);
        (0..fitting_rounds).for_each(|_| rates.add(2, 100, calls_per_second));
        rates
    }

    #[test]
    fn rounds_that_are_slow_for_want_of_processors_are_warned_of() {
        let times = rates(5, 1e6).times_slower(4, 1000, 10.0).expect("a round that continues");
        assert_eq!(times.round(), 10_000.0);
        let mut mixed = rates(5, 1e6);
        mixed.add(4, 10_000_000, 1e6);
        assert!(
            mixed.times_slower(4, 1000, 10.0).is_some(),
            "this one, after others that were fast"
        );
        let mut ended = rates(5, 1e6);
        ended.add(3, 1000, 100.0);
        assert!(ended.times_slower(2, 50, 0.1).is_some(), "a round that is over");
        assert!(ended.observe(7, 2, 0).is_some() && ended.observe(8, 2, 0).is_none(), "once");
    }

    #[test]
    fn other_rounds_are_not() {
        assert_eq!(rates(2, 1e6).times_slower(4, 1000, 10.0), None, "nothing to compare with");
        assert_eq!(rates(5, 1e6).times_slower(4, 10, 1.0), None, "too short");
        assert_eq!(rates(5, 1e6).times_slower(2, 10, 10.0), None, "a processor for each");
        assert_eq!(rates(5, 500.0).times_slower(4, 1000, 10.0), None, "slow anyway");
        assert_eq!(CallRates::with(2).times_slower(4, 0, 10.0), None, "nothing known");
    }
}
