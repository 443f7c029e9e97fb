//! Checks rounds, for native threads on a thread of low priority.
//! On few processors the checker would otherwise compete with the target's threads, which would
//! then seldom run at the same instant.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Instant;

use super::exercise::Counter;
use crate::check::{self, Limits, Overlap, Verdict};
use crate::core::history::{History, Thread};
use crate::model::Spec;
use crate::trace::rounds::Round;

/// Niceness of the thread.
const NICE: i32 = 15;

/// A round with its verdict.
pub struct CheckedRound {
    pub round: Round,
    pub overlap: Overlap,
    pub verdict: Verdict,
    /// The history on one thread, if the round was sequential and checked as such.
    pub alone: Option<History>,
    /// The counter, to which the round was added.
    pub counter: Box<Counter>,
}

/// The checking thread. It ends when this is dropped.
pub struct CheckThread {
    work: Sender<Box<dyn FnOnce() + Send>>,
}

impl CheckThread {
    pub fn start() -> CheckThread {
        let (work, inbox) = channel::<Box<dyn FnOnce() + Send>>();
        std::thread::spawn(move || {
            // A thread's own priority, on Linux. A refusal costs speed only.
            let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
            for work in inbox {
                work();
            }
        });
        CheckThread { work }
    }

    /// Does some work on this thread, and waits for it; none if it is not done at `end`. Beside a
    /// load the thread may get hardly any processor time, so that it sees late that time is over.
    pub fn run<T: Send + 'static>(
        &self,
        end: Option<Instant>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (outbox, done) = channel();
        let work = Box::new(move || drop(outbox.send(work())));
        self.work.send(work).expect("the thread lives until this is dropped");
        let Some(end) = end else { return Some(done.recv().expect("all work is done")) };
        match done.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => None,
            answer => Some(answer.expect("all work is done")),
        }
    }
}

/// Checks a round on the calling thread, and counts what it exercised.
pub fn check_round(
    round: Round,
    model: &Spec,
    limits: &Limits,
    mut counter: Box<Counter>,
) -> CheckedRound {
    let start = &round.start;
    // Timeboxes that calls share do not show which of them overlapped.
    let has_blocks = round.history.has_blocks();
    if !start.sequential && !has_blocks {
        counter.begin(start.round, start.threads);
        counter.add(start.round, start.threads, &round.history);
    }
    let overlap = match has_blocks {
        true => Overlap { operations: round.history.len(), overlapping: 0 },
        false => check::overlap(&round.history),
    };
    let alone = round.start.sequential.then(|| in_one_thread(&round.history)).flatten();
    let verdict = match &alone {
        Some(history) => check::sequential(history, model),
        None => check::check(&round.history, model, limits),
    };
    CheckedRound { round, overlap, verdict, alone, counter }
}

/// The operations on a single thread, in their order; none if any two overlap.
fn in_one_thread(history: &History) -> Option<History> {
    let mut ids: Vec<_> = history.ids().collect();
    ids.sort_by_key(|id| history.operation(*id).start);
    let mut one = History { threads: vec![Thread::new(0)], ..history.without_threads() };
    for id in ids {
        one.threads[0].push(history.entry(id)).ok()?;
    }
    Some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_takes_too_long_is_not_waited_for() {
        let (thread, now) = (CheckThread::start(), Instant::now());
        assert_eq!(thread.run(None, || 7), Some(7));
        let (go_on, wait) = channel::<()>();
        assert_eq!(thread.run(Some(now), move || wait.recv()), None);
        drop(go_on);
        assert_eq!(thread.run(None, || 8), Some(8));
    }
}
