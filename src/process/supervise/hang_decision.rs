//! Decides whether a process that makes no progress hangs, from what its threads did meanwhile.
//! A thread that does not get a processor proves nothing. So the time that counts stands still
//! while any thread of the process could run and hardly does: the whole process has had that much
//! time, in which each of its threads slept or ran. A process that went on after a long pause is
//! given a multiple of that: its machine or its target is slow.

use std::collections::HashMap;
use std::time::Duration;

/// A hang counts after the patience and this part of it: the second look.
const SECOND_LOOK_PART: u32 = 4;

/// The weight of a thread's processor time: one that ran for a quarter of the time that it could
/// run was not starved. The controlled engine, too, takes a quarter of the patience.
const PROCESSOR_FACTOR: u32 = 4;

/// A hang lasts so many times as long as the longest pause so far.
const LONGEST_FACTOR: u32 = 4;

/// A process is given up after so many times the patience, whatever it waits for.
pub const HOPELESS_FACTOR: u32 = 12;

/// The time between two looks, and the most that one accounts for: a supervisor that was stopped or
/// starved itself has not seen what happened meanwhile.
pub const INTERVAL: Duration = Duration::from_millis(50);

/// The time after which a hang counts, on a machine with enough processors.
pub fn noticed_after(patience: Duration) -> Duration {
    patience + patience / SECOND_LOOK_PART
}

/// What the kernel says that a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for whatever wakes it, such as a lock.
    Sleeps,
    /// It runs or waits for a processor.
    Runnable,
    /// By a signal, a debugger, or the kernel, until a disk or memory is there.
    Stopped,
}

/// A thread when it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    pub number: u32,
    pub state: State,
    /// Its processor time so far.
    pub processor: Duration,
}

/// What to think of a process that makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HangDecision {
    /// It may still be starved, stopped or slow.
    Unsure,
    /// The target is what holds it up.
    Hangs,
    /// Nothing is to be expected of it, and nothing shows that the target is the cause.
    Hopeless,
}

/// The time since a process last made progress.
#[derive(Debug, Default)]
pub struct Stillness {
    elapsed: Duration,
    threads: HashMap<u32, Awake>,
    /// The longest pause so far: the time that counted until the process made calls again.
    longest: Duration,
}

/// A thread that did not always sleep.
#[derive(Debug, Default)]
struct Awake {
    /// How long it was runnable or stopped.
    time: Duration,
    processor_before: Duration,
    processor: Duration,
}

impl Awake {
    /// How long it could not run although it would have.
    fn starved(&self) -> Duration {
        let ran = self.processor.saturating_sub(self.processor_before);
        self.time.saturating_sub(ran * PROCESSOR_FACTOR)
    }
}

impl Stillness {
    /// Begins anew; `went_on`: because the process makes calls again.
    pub fn end(&mut self, went_on: bool) {
        let longest = if went_on { self.longest.max(self.counted()) } else { self.longest };
        *self = Stillness { longest, ..Stillness::default() };
    }

    /// Takes what the threads do now, so long after the last look.
    pub fn look(&mut self, since: Duration, threads: &[Thread]) {
        let since = since.min(INTERVAL);
        self.elapsed += since;
        self.threads.retain(|number, _| threads.iter().any(|thread| thread.number == *number));
        for thread in threads {
            let first = || Awake { processor_before: thread.processor, ..Awake::default() };
            let awake = self.threads.entry(thread.number).or_insert_with(first);
            awake.processor = thread.processor;
            if thread.state != State::Sleeps {
                awake.time += since;
            }
        }
    }

    /// The time in which no thread was starved.
    pub fn counted(&self) -> Duration {
        let starved = self.threads.values().map(Awake::starved).max();
        self.elapsed.saturating_sub(starved.unwrap_or_default())
    }

    /// Whether a round is stuck that the end of a run cuts short.
    pub fn is_stuck(&self, patience: Duration) -> bool {
        self.lasts(patience / SECOND_LOOK_PART)
    }

    fn lasts(&self, least: Duration) -> bool {
        self.counted() >= least.max(self.longest * LONGEST_FACTOR)
    }

    /// `is_in_target`: whether code of the target is under way.
    pub fn decide(&self, patience: Duration, is_in_target: impl FnOnce() -> bool) -> HangDecision {
        if self.lasts(noticed_after(patience)) && is_in_target() {
            HangDecision::Hangs
        } else if self.elapsed >= patience * HOPELESS_FACTOR {
            HangDecision::Hopeless
        } else {
            HangDecision::Unsure
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// A thread that is always in this state and has this share of a processor.
    type Habit = (State, f64);

    /// The verdict after so many seconds, in which threads had these habits.
    fn after(seconds: u64, in_target: bool, threads: &[Habit]) -> HangDecision {
        let mut stillness = Stillness::default();
        let looks = seconds * 1000 / INTERVAL.as_millis() as u64;
        for look in 0..=looks as u32 {
            let thread = |(number, (state, share)): (usize, &Habit)| {
                let processor = (INTERVAL * look).mul_f64(*share);
                Thread { number: number as u32, state: *state, processor }
            };
            let since = if look == 0 { Duration::ZERO } else { INTERVAL };
            let threads: Vec<Thread> = threads.iter().enumerate().map(thread).collect();
            stillness.look(since, &threads);
        }
        stillness.decide(PATIENCE, || in_target)
    }

    const ASLEEP: Habit = (State::Sleeps, 0.0);
    const SPINS: Habit = (State::Runnable, 1.0);
    const STARVED: Habit = (State::Runnable, 0.001);
    const STOPPED: Habit = (State::Stopped, 0.0);

    #[test]
    fn threads_that_sleep_or_run_in_the_target_hang() {
        for threads in [&[ASLEEP, ASLEEP][..], &[SPINS], &[SPINS, ASLEEP]] {
            assert_eq!(after(13, true, threads), HangDecision::Hangs, "{threads:?}");
        }
    }

    #[test]
    fn a_hang_is_confirmed_by_a_second_look() {
        for (seconds, verdict) in
            [(11, HangDecision::Unsure), (12, HangDecision::Unsure), (13, HangDecision::Hangs)]
        {
            assert_eq!(after(seconds, true, &[ASLEEP]), verdict, "{seconds} s");
        }
    }

    /// The barrier of the harness: no call has begun.
    #[test]
    fn nobody_is_accused_while_no_code_of_the_target_is_under_way() {
        for threads in [&[ASLEEP][..], &[SPINS, SPINS], &[SPINS, STARVED]] {
            assert_eq!(after(100, false, threads), HangDecision::Unsure, "{threads:?}");
            assert_eq!(after(120, false, threads), HangDecision::Hopeless, "{threads:?}");
        }
    }

    #[test]
    fn a_thread_that_gets_no_processor_proves_nothing() {
        // The second thread waits for the first one, which holds the lock.
        for threads in [&[STARVED][..], &[STARVED, ASLEEP], &[STARVED, SPINS], &[STOPPED, ASLEEP]] {
            assert_eq!(after(100, true, threads), HangDecision::Unsure, "{threads:?}");
            assert_eq!(after(120, true, threads), HangDecision::Hopeless, "{threads:?}");
        }
    }

    #[test]
    fn a_thread_that_spins_on_a_busy_machine_hangs_later() {
        // One processor for ten: four tenths of the time count.
        let share = (State::Runnable, 0.1);
        assert_eq!(after(30, true, &[share]), HangDecision::Unsure);
        assert_eq!(after(32, true, &[share]), HangDecision::Hangs);
    }

    /// On a machine that takes seconds to wake the next owner of a lock, for instance.
    #[test]
    fn a_process_that_went_on_before_is_given_more_time() {
        let sleeper = Thread { number: 1, state: State::Sleeps, processor: Duration::ZERO };
        let mut stillness = Stillness::default();
        let mut after = |seconds: u32| {
            (0..seconds * 20).for_each(|_| stillness.look(INTERVAL, &[sleeper]));
            let verdict = stillness.decide(PATIENCE, || true);
            stillness.end(seconds != 9);
            verdict
        };
        assert_eq!([9, 2, 5, 1].map(&mut after), [HangDecision::Unsure; 4]);
        assert_eq!([19, 76].map(after), [HangDecision::Unsure, HangDecision::Hangs]);
    }

    /// Such as that of a person who stops interlap and lets it go on later, or of a busy machine
    /// that gives interlap itself a processor four times a second.
    #[test]
    fn time_without_a_look_does_not_count() {
        let sleeper = Thread { number: 1, state: State::Sleeps, processor: Duration::ZERO };
        for (since, looks, patience) in [(3_600_000, 10, 10_000), (250, 4, 200)] {
            let mut stillness = Stillness::default();
            (0..looks).for_each(|_| stillness.look(Duration::from_millis(since), &[sleeper]));
            let patience = Duration::from_millis(patience);
            assert_eq!(stillness.decide(patience, || true), HangDecision::Unsure, "{since} ms");
        }
    }
}
