//! Scheduling policies: which thread runs next in an engine that runs one at a time.
//! At each scheduling point the engine passes a [`View`] and gets the number of a thread that can
//! run. A decision depends only on the [`Spec`], the seed and the views.
//!
//! No policy finds every bug soonest, and some never find what others find at once (Zhao, Wolff,
//! Mathur, Roychoudhury: Selectively Uniform Concurrency Testing, ASPLOS 2025, evaluation;
//! Thomson, Donaldson, Betts: Concurrency Testing Using Controlled Schedulers, TOPC 2016). So there
//! are several, and each round draws one ([`Spec::drawn`]).
//!
//! Addresses are only compared for equality, because the address of a variable differs between
//! processes and must not change the schedule.
//!
//! - `change_points`: Draws change points: random decisions of a round at which a policy deviates.
//! - `delay`: Policy delay: each thread runs until it blocks or ends, except at a few random
//!   delays.
//! - `interesting`: Draws the interesting address of a round: one that several threads access.
//! - `list`: Policy list: repeats recorded switches, or a part of them, by the number of the step.
//! - `pct`: Policy pct: random thread priorities, lowered at a few random change points.
//! - `pos`: Policy pos: random priorities of events, drawn again for the events that race.
//! - `priorities`: Random thread priorities, which order the threads uniformly at random.
//! - `simulator`: Runs small programs under a policy, for tests.
//! - `spec`: The notation of policies with their parameters, and which policy each round draws.
//! - `stall`: Policy stall: a thread is preempted inside an operation while others complete whole
//!   ones.
//! - `surw`: Policy surw: all orders of the accesses to one address are about equally likely.
//! - `turns`: Policy turns: repeats recorded switches by the position of a thread in its own calls.
//! - `walk`: Policy walk: a sticky random walk, which switches threads with a given probability.

mod change_points;
mod delay;
mod interesting;
mod list;
mod pct;
mod pos;
mod priorities;
mod spec;
mod stall;
mod surw;
mod turns;
mod walk;

#[cfg(test)]
mod simulator;
#[cfg(test)]
mod tests;

use crate::core::random::Random;
use change_points::ChangePoints;

pub use list::default_choice;
pub use spec::{Spec, Switch};
pub use turns::{Position, Turn, YieldCounts};

/// Maximum number of threads of a round. The numbers of threads are below this.
pub const THREADS_MAX: usize = 64;

/// What a thread is about to do at its scheduling point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Access {
    #[default]
    None = 0,
    Read = 1,
    Write = 2,
}

/// The access a thread is about to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// 0: none.
    pub address: u64,
    pub access: Access,
}

impl Pending {
    /// Whether the order of the two accesses can matter.
    #[inline]
    fn races(self, other: Pending) -> bool {
        self.address == other.address
            && self.address != 0
            && (self.access == Access::Write || other.access == Access::Write)
    }
}

/// The information on which a policy decides.
pub struct View<'a> {
    /// The thread at a scheduling point. It may have just blocked or ended.
    pub current: usize,
    /// A bit for each thread that can run; never 0.
    pub runnable: u64,
    /// `current` yields: by `sched_yield`, or in a spin loop that the engine noticed.
    pub yields: bool,
    /// Number of this step in the round, for `Spec::List`.
    pub step: u64,
    /// The position of `current` in its calls, for `Spec::Turns`.
    pub position: Position,
    pub pending: &'a [Pending; THREADS_MAX],
}

impl View<'_> {
    /// The only thread that can run, if there is only one.
    #[inline]
    fn only_runnable(&self) -> Option<usize> {
        (self.runnable & self.runnable.wrapping_sub(1) == 0).then(|| lowest(self.runnable))
    }

    /// The threads that may be chosen: all that can run, without `current` if it yields and others
    /// can run. If it went on it could spin forever on a value that another thread has to write.
    #[inline]
    fn candidates(&self) -> u64 {
        let others = self.runnable & !bit(self.current);
        if self.yields && others != 0 { others } else { self.runnable }
    }
}

/// The size of a round, as known before it begins.
#[derive(Clone, Copy, Debug)]
pub struct RoundSize {
    /// Threads at the start. The target may create more.
    pub threads: usize,
    /// Maximum number of operations of all threads together.
    pub operations: u64,
}

/// Decides which thread runs next. Each round has a new one.
#[derive(Clone, Debug)]
pub struct Policy(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Walk(walk::Walk),
    Pct(pct::Pct),
    Pos(pos::Pos),
    Surw(Box<surw::Surw>),
    Delay(delay::Delay),
    Stall(stall::Stall),
    List(list::List),
    Turns(Box<turns::Turns>),
}

impl Policy {
    pub fn new(spec: &Spec, seed: u64, size: &RoundSize) -> Policy {
        let (mut random, threads) = (Random::new(seed), size.threads);
        let mut points = |count| ChangePoints::new(count, size, Random::new(random.bits()));
        Policy(match spec {
            Spec::Walk { percent } => Kind::Walk(walk::Walk::new(*percent, random)),
            Spec::Pct { depth } => {
                let changes = points(depth - 1);
                Kind::Pct(pct::Pct::new(changes, threads, random))
            }
            Spec::Pos => Kind::Pos(pos::Pos::new(threads, random)),
            Spec::Surw => Kind::Surw(Box::new(surw::Surw::new(size, random))),
            Spec::Delay { delays } => {
                let delays = points(*delays);
                Kind::Delay(delay::Delay::new(delays, threads, random))
            }
            Spec::Stall => Kind::Stall(stall::Stall::new(random)),
            Spec::List(switches) => Kind::List(list::List::new(switches)),
            Spec::Turns(turns) | Spec::Near(turns) => {
                Kind::Turns(Box::new(turns::Turns::new(turns)))
            }
        })
    }

    /// Chooses a thread whose bit is set in `view.runnable`. Never allocates, locks or panics. Call
    /// it at every scheduling point, even when only one thread can run: the accesses of that thread
    /// may count.
    #[inline]
    pub fn next(&mut self, view: &View) -> usize {
        match &mut self.0 {
            Kind::Walk(policy) => policy.next(view),
            Kind::Pct(policy) => policy.next(view),
            Kind::Pos(policy) => policy.next(view),
            Kind::Surw(policy) => policy.next(view),
            Kind::Delay(policy) => policy.next(view),
            Kind::Stall(policy) => policy.next(view),
            Kind::List(policy) => policy.next(view),
            Kind::Turns(policy) => policy.next(view),
        }
    }

    /// How many decisions after `step` are certain to be `current`, as long as the same threads can
    /// run, none yields, and no operation ends (if the policy uses ends of operations). The engine
    /// may leave out these calls of [`Policy::next`] if it passes their number to [`Policy::skip`].
    #[inline]
    pub fn decided_ahead(&self, current: usize, step: u64) -> u64 {
        match &self.0 {
            Kind::Walk(policy) => policy.decided_ahead(),
            Kind::Pct(policy) => policy.decided_ahead(),
            Kind::Delay(policy) => policy.decided_ahead(),
            Kind::List(policy) => policy.decided_ahead(step),
            Kind::Stall(policy) => policy.decided_ahead(current),
            Kind::Pos(_) | Kind::Surw(_) | Kind::Turns(_) => 0,
        }
    }

    /// Accounts for `decisions` left out while `current` ran, at most [`Policy::decided_ahead`].
    pub fn skip(&mut self, current: usize, decisions: u64) {
        match &mut self.0 {
            Kind::Walk(policy) => policy.skip(decisions),
            Kind::Pct(policy) => policy.skip(decisions),
            Kind::Delay(policy) => policy.skip(decisions),
            Kind::Stall(policy) => policy.skip(current, decisions),
            Kind::List(_) | Kind::Turns(_) | Kind::Pos(_) | Kind::Surw(_) => {}
        }
    }

    /// Whether its decisions depend on the pending accesses.
    #[inline]
    pub fn uses_accesses(&self) -> bool {
        matches!(self.0, Kind::Pos(_) | Kind::Surw(_))
    }

    /// Whether its decisions depend on when operations end.
    #[inline]
    pub fn uses_operations(&self) -> bool {
        matches!(self.0, Kind::Stall(_) | Kind::Pct(_) | Kind::Delay(_) | Kind::Surw(_))
    }

    /// To be called when a call of the structure returns on this thread.
    #[inline]
    pub fn operation_ended(&mut self, thread: usize) {
        match &mut self.0 {
            Kind::Stall(policy) => policy.operation_ended(thread),
            Kind::Pct(policy) => policy.operation_ended(),
            Kind::Delay(policy) => policy.operation_ended(),
            Kind::Surw(policy) => policy.operation_ended(thread),
            _ => {}
        }
    }
}

/// The set of this thread alone.
#[inline]
fn bit(thread: usize) -> u64 {
    1 << (thread % THREADS_MAX)
}

/// The lowest thread of a set; 0 for the empty set, so that it is always a valid index.
#[inline]
fn lowest(threads: u64) -> usize {
    threads.trailing_zeros() as usize % THREADS_MAX
}

/// The thread of a set that has `n` lower ones in the set.
#[inline]
fn nth(mut threads: u64, n: u64) -> usize {
    for _ in 0..n {
        threads &= threads.wrapping_sub(1);
    }
    lowest(threads)
}

/// The threads of a set, lowest first.
#[inline]
fn each(mut threads: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let thread = (threads != 0).then(|| lowest(threads));
        threads &= threads.wrapping_sub(1);
        thread
    })
}
