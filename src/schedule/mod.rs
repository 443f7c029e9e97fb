//! Who runs next: the policies of an engine that lets one thread at a time run. In comes what the
//! engine knows at a scheduling point ([`View`]), out goes the number of a thread that can run.
//! Knows nothing of threads, locks or memory, nor of how a thread is made to run; a decision
//! depends on the [`Spec`], the seed and the views alone.
//!
//! No policy finds every bug soonest, and some never find what others find at once (Zhao, Wolff,
//! Mathur, Roychoudhury: Selectively Uniform Concurrency Testing, ASPLOS 2025, evaluation;
//! Thomson, Donaldson, Betts: Concurrency Testing Using Controlled Schedulers, TOPC 2016): so there
//! are several, and the rounds of a run take turns ([`Spec::drawn`]).
//!
//! Addresses are only ever compared for equality: where a target lies in memory differs between
//! processes and must not change the schedule.
//!
//! - `change_points`: Places: random decisions of a round at which a policy does something out of
//!   turn, as likely early as late.
//! - `delay`: Delay bounding: each thread runs until it blocks or ends, in turn, but for a few
//!   delays.
//! - `interest`: Which address of a round is the interesting one, for policies that order the
//!   accesses to one.
//! - `list`: A list of switches: a schedule recorded from any policy, or a part of one.
//! - `pct`: PCT: random priorities, lowered at a few random points.
//! - `pos`: POS: random priorities of events.
//! - `priorities`: Lots: a random number for each thread, drawn when it is first needed, so that
//!   threads may appear at any time.
//! - `simulator`: For tests: threads as lists of events, run under a policy.
//! - `spec`: A policy with its parameters, as part of a plan.
//! - `stall`: Stall: one thread is stopped in the middle of an operation while others complete
//!   whole ones, again and again.
//! - `surw`: SURW, selectively uniform random walk.
//! - `turns`: A list of turns: where in its calls each thread let another go on, recorded from any
//!   policy, or a part of that.
//! - `walk`: Sticky random walk: the current thread goes on but for a given probability at each
//!   point.

mod change_points;
mod delay;
mod interest;
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
use change_points::Places;

pub use list::unprompted;
pub use spec::{Spec, Switch};
pub use turns::{Place, Tries, Turn};

/// Most threads of a round; their numbers are below this.
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
    /// Whether the order of the two can matter.
    #[inline]
    fn races(self, other: Pending) -> bool {
        self.address == other.address
            && self.address != 0
            && (self.access == Access::Write || other.access == Access::Write)
    }
}

/// What a policy may know when it decides.
pub struct View<'a> {
    /// The thread at whose point the decision is made; it may have just blocked or ended.
    pub current: usize,
    /// A bit for each thread that can run; never 0.
    pub runnable: u64,
    /// `current` asked to let others go first (`sched_yield`, a spin loop that the engine noticed).
    pub yields: bool,
    /// Number of this step in the round; only a list looks at it.
    pub step: u64,
    /// How far `current` is; only a list of turns looks at it.
    pub place: Place,
    pub pending: &'a [Pending; THREADS_MAX],
}

impl View<'_> {
    /// The thread that can run, if there is but one.
    #[inline]
    fn lone(&self) -> Option<usize> {
        (self.runnable & self.runnable.wrapping_sub(1) == 0).then(|| lowest(self.runnable))
    }

    /// The threads that may be chosen: all that can run, but one that yields if there are others.
    /// A policy that let it go on could wait for ever for what another thread is to write.
    #[inline]
    fn candidates(&self) -> u64 {
        let others = self.runnable & !bit(self.current);
        if self.yields && others != 0 { others } else { self.runnable }
    }
}

/// What is known of a round before it begins.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    /// Threads at the start; others may come.
    pub threads: usize,
    /// Operations of all threads together, at most.
    pub operations: u64,
}

/// Decides who runs next; made anew for each round.
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
    pub fn new(spec: &Spec, seed: u64, outlook: &Outlook) -> Policy {
        let (mut random, threads) = (Random::new(seed), outlook.threads);
        let mut places = |count| Places::new(count, outlook, Random::new(random.bits()));
        Policy(match spec {
            Spec::Walk { percent } => Kind::Walk(walk::Walk::new(*percent, random)),
            Spec::Pct { depth } => {
                let changes = places(depth - 1);
                Kind::Pct(pct::Pct::new(changes, threads, random))
            }
            Spec::Pos => Kind::Pos(pos::Pos::new(threads, random)),
            Spec::Surw => Kind::Surw(Box::new(surw::Surw::new(outlook, random))),
            Spec::Delay { delays } => {
                let delays = places(*delays);
                Kind::Delay(delay::Delay::new(delays, threads, random))
            }
            Spec::Stall => Kind::Stall(stall::Stall::new(random)),
            Spec::List(switches) => Kind::List(list::List::new(switches)),
            Spec::Turns(turns) | Spec::Near(turns) => {
                Kind::Turns(Box::new(turns::Turns::new(turns)))
            }
        })
    }

    /// A thread whose bit is set in `view.runnable`. Never allocates, locks or panics. To be asked
    /// at every point, also when only one thread can run: what that one does may count.
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

    /// How many of the next decisions are known: as long as the same threads can run, none yields,
    /// no operation ends (if it heeds that) and no more steps pass than that after `step`,
    /// `current` goes on. They need not be asked for if [`Policy::skip`] is told how many.
    #[inline]
    pub fn quiet(&self, current: usize, step: u64) -> u64 {
        match &self.0 {
            Kind::Walk(policy) => policy.quiet(),
            Kind::Pct(policy) => policy.quiet(),
            Kind::Delay(policy) => policy.quiet(),
            Kind::List(policy) => policy.quiet(step),
            Kind::Stall(policy) => policy.quiet(current),
            Kind::Pos(_) | Kind::Surw(_) | Kind::Turns(_) => 0,
        }
    }

    /// So many decisions were not asked for while `current` went on, at most [`Policy::quiet`].
    pub fn skip(&mut self, current: usize, decisions: u64) {
        match &mut self.0 {
            Kind::Walk(policy) => policy.skip(decisions),
            Kind::Pct(policy) => policy.skip(decisions),
            Kind::Delay(policy) => policy.skip(decisions),
            Kind::Stall(policy) => policy.skip(current, decisions),
            Kind::List(_) | Kind::Turns(_) | Kind::Pos(_) | Kind::Surw(_) => {}
        }
    }

    /// Whether what threads are about to access has a part in its decisions.
    #[inline]
    pub fn heeds_accesses(&self) -> bool {
        matches!(self.0, Kind::Pos(_) | Kind::Surw(_))
    }

    /// Whether it wants to be told when operations end.
    #[inline]
    pub fn heeds_operations(&self) -> bool {
        matches!(self.0, Kind::Stall(_) | Kind::Pct(_) | Kind::Delay(_) | Kind::Surw(_))
    }

    /// A call of the structure returned on this thread.
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

/// The lowest thread of a set; 0 for the empty set, so that no index made of it is out of bounds.
#[inline]
fn lowest(threads: u64) -> usize {
    threads.trailing_zeros() as usize % THREADS_MAX
}

/// The thread of a set that has `n` lower ones in it.
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
