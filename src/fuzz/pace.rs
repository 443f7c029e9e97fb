//! How long calls of native threads take: in rounds with a processor for each thread, and in rounds
//! with more threads than that. Rounds come in, and looks at the one that is under way; a hint goes
//! out, once, where the others crawl, as they do where a thread spins until another does something
//! that has no processor to do it.

use std::time::Instant;

use crate::trace::records::SIZE_MIN;

/// Time in rounds of more threads than processors before anything is said of them.
const SECONDS_MIN: f64 = 5.0;
/// Rounds of fewer threads, to compare them with.
const FITTING_MIN: u64 = 3;
/// To share processors makes calls a few times slower, and stalls do; more is spinning.
const TIMES_SLOWER: f64 = 20.0;

pub struct Pace {
    /// How many threads can run at once.
    processors: u32,
    fitting: Sum,
    crowded: Sum,
    /// The round under way, and since when it has been seen.
    seen: (u64, Instant),
    told: bool,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    rounds: u64,
    calls: u64,
    seconds: f64,
}

impl Pace {
    pub fn new() -> Pace {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        Pace::with(processors)
    }

    fn with(processors: u32) -> Pace {
        let (fitting, crowded) = (Sum::default(), Sum::default());
        Pace { processors, fitting, crowded, seen: (u64::MAX, Instant::now()), told: false }
    }

    /// A round of so many threads is over, whose calls came at this rate.
    pub fn add(&mut self, threads: u32, calls: u64, calls_per_second: f64) {
        if calls > 0 && calls_per_second > 0.0 {
            let fits = threads <= self.processors;
            let sum = if fits { &mut self.fitting } else { &mut self.crowded };
            sum.add(calls, calls as f64 / calls_per_second);
        }
    }

    /// A look at the round under way; what to do, if such rounds crawl and it was not said before.
    pub fn look(&mut self, round: u64, threads: u32, bytes: u64) -> Option<String> {
        if self.seen.0 != round {
            self.seen = (round, Instant::now());
        }
        let seconds = self.seen.1.elapsed().as_secs_f64();
        // No fewer calls than there were: most records have a few bytes more.
        let hint = self.hint(threads, bytes / SIZE_MIN as u64, seconds).filter(|_| !self.told);
        self.told |= hint.is_some();
        hint
    }

    /// The hint, if the round under way has had so many calls in this time.
    fn hint(&self, threads: u32, calls: u64, seconds: f64) -> Option<String> {
        let processors = self.processors;
        let mut this = Sum::default();
        if threads > processors {
            this.add(calls.max(1), seconds);
        }
        // All such rounds together, or this one alone.
        let long = [self.crowded, this].into_iter().filter(|sum| sum.seconds >= SECONDS_MIN);
        let slower = |sum: Sum| sum.seconds_per_call() / self.fitting.seconds_per_call();
        let times = long.map(slower).fold(0.0, f64::max);
        (self.fitting.rounds >= FITTING_MIN && times >= TIMES_SLOWER).then(|| {
            format!(
                "rounds with more threads than processors ({processors}) crawl, each call takes \
                 {times:.0} times as long as in others: threads that spin wait for one that does \
                 not run. --threads {processors} does more in the time; so may --engine controlled"
            )
        })
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

    fn pace(fitting_rounds: u64, calls_per_second: f64) -> Pace {
        let mut pace = Pace::with(2);
        (0..fitting_rounds).for_each(|_| pace.add(2, 100, calls_per_second));
        pace
    }

    #[test]
    fn rounds_that_crawl_for_want_of_processors_are_told() {
        let told = pace(5, 1e6).hint(4, 1000, 10.0).expect("a round that goes on");
        assert!(told.contains(" 10000 times") && told.contains("--threads 2"), "{told}");
        let mut mixed = pace(5, 1e6);
        mixed.add(4, 10_000_000, 1e6);
        assert!(mixed.hint(4, 1000, 10.0).is_some(), "this one, after others that were fast");
        let mut ended = pace(5, 1e6);
        ended.add(3, 1000, 100.0);
        assert!(ended.hint(2, 50, 0.1).is_some(), "a round that is over");
        assert!(ended.look(7, 2, 0).is_some() && ended.look(8, 2, 0).is_none(), "once");
    }

    #[test]
    fn others_are_not() {
        assert_eq!(pace(2, 1e6).hint(4, 1000, 10.0), None, "nothing to compare with");
        assert_eq!(pace(5, 1e6).hint(4, 10, 1.0), None, "too short");
        assert_eq!(pace(5, 1e6).hint(2, 10, 10.0), None, "a processor for each");
        assert_eq!(pace(5, 500.0).hint(4, 1000, 10.0), None, "slow anyway");
        assert_eq!(Pace::with(2).hint(4, 0, 10.0), None, "nothing known");
    }
}
