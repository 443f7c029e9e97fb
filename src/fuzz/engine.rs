//! Chooses the engine that drives a target, and another one where the first has no hold on it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Uncontrolled;
use crate::adapter::compile::{self, Flavour};
use crate::adapter::head::Head;
use crate::binary::symbols::SourceLines;
use crate::binary::uninstrumented;
use crate::core::plan::{Control, Engine, MemoryModel, Plan};

/// The least time for which [`leave_after`] tries.
const LEAVE_AFTER_MIN: Duration = Duration::from_secs(1);

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineChoice {
    Auto,
    Native,
    Controlled,
    /// Threads that rr's chaos mode switches, recorded: findings can be debugged, backwards too
    Rr,
}

impl EngineChoice {
    /// The engine that this choice means for a target. `auto` is the controlled engine, unless the
    /// target cannot be hooked or `wants_native`: other options have a meaning for native threads
    /// only.
    pub fn engine(self, head: &Head, wants_native: bool) -> Engine {
        match self {
            EngineChoice::Native => Engine::Native,
            EngineChoice::Controlled => Engine::Controlled,
            EngineChoice::Rr => Engine::Rr,
            EngineChoice::Auto if !cfg!(target_arch = "x86_64") => Engine::Native,
            EngineChoice::Auto if head.hookable && !wants_native => Engine::Controlled,
            EngineChoice::Auto => Engine::Native,
        }
    }

    /// How long the controlled engine is tried on a target of whose prebuilt libraries it sees
    /// little: long enough for what their locks show, and most of the time is left.
    pub fn leave_after(self, duration: Duration) -> Option<Duration> {
        (self == EngineChoice::Auto).then_some((duration / 10).max(LEAVE_AFTER_MIN))
    }

    /// Runs the plan by `attempt`, and a second time with native threads where the choice is open
    /// and the controlled engine has no hold on the target. The second attempt is told how much of
    /// the run's time is spent.
    pub fn run<T>(
        self,
        plan: Plan,
        attempt: impl Fn(Plan, Option<Duration>) -> Result<T>,
        warn: impl Fn(&str),
    ) -> Result<T> {
        let native = Plan { engine: Engine::Native, ..plan.clone() };
        let may_change = self == EngineChoice::Auto && plan.engine != native.engine;
        let error = match attempt(plan, None) {
            Err(error) if may_change => error,
            done => return done,
        };
        if let Some(why) = error.downcast_ref::<Uncontrolled>() {
            warn(&format!("{error:#}; going on with native threads"));
            return attempt(native, Some(why.spent()));
        }
        if !error.is::<compile::Error>() {
            return Err(error);
        }
        // A target that does not compile for native threads either is reported as if these had
        // been tried first.
        let done = attempt(native, Some(Duration::ZERO))?;
        warn(
            "native threads were used, because the target does not compile with the hooks of the \
             controlled engine; `--engine controlled` shows why",
        );
        Ok(done)
    }
}

/// What a target is built for. rr needs no hooks, but only where it counts a conditional jump does
/// it let another thread run: with hooks that is at each access.
pub fn flavour_for(engine: Engine, head: &Head) -> Flavour {
    match engine {
        Engine::Native => Flavour::Plain,
        Engine::Rr if !head.hookable => Flavour::Plain,
        Engine::Rr | Engine::Controlled => Flavour::Hooked,
    }
}

/// How many harnesses run at a time, and a warning if that is not what was asked for. Native
/// threads need the processors for themselves: two of them must run at the same instant. A
/// recording needs but one.
pub fn jobs_for(engine: Engine, asked: Option<u64>) -> (u64, Option<&'static str>) {
    let cores = || std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    match (engine, asked) {
        (Engine::Controlled | Engine::Rr, asked) => (asked.unwrap_or_else(cores), None),
        (Engine::Native, None | Some(1)) => (1, None),
        (Engine::Native, Some(_)) => {
            (1, Some("--jobs: the native engine does one job, whose threads need all processors"))
        }
    }
}

/// Refuses a hooked library whose synchronization the hooks do not see.
///
/// A thread that waits in the loop of an uninstrumented atomic instruction would wait for ever and
/// be taken to hang. Where a fence is uninstrumented no store may wait in a store buffer, so that
/// the memory model becomes `sc` unless the user asked for another.
pub fn require_hooks(library: &Path, control: &mut Control) -> Result<()> {
    let unseen = uninstrumented::of(library).with_context(|| library.display().to_string())?;
    let line = |at: u64| {
        let line = SourceLines::of(library).find(&[at]).remove(0);
        line.unwrap_or_else(|| format!("{at:#x} of {}", library.display()))
    };
    if let Some(first) = unseen.atomics.first() {
        bail!(Uncontrolled::Refused(format!(
            "atomic instructions of the target are inline assembly, or were compiled without \
             hooks, so that no thread can be switched between them ({}, the first: {}). Use the \
             compiler's atomics (std::atomic, __atomic; some libraries have an option for it)",
            unseen.atomics.len(),
            line(*first),
        )))
    }
    match (unseen.fences.first(), control.memory_model) {
        (Some(_), MemoryModel::Some) => control.memory_model = MemoryModel::Sc,
        (Some(first), MemoryModel::Tso | MemoryModel::TsoLate) => bail!(
            "--memory-model: fences of the target are inline assembly, which nobody sees ({}, the \
             first: {}). Use std::atomic_thread_fence, or --memory-model sc",
            unseen.fences.len(),
            line(*first),
        ),
        (_, MemoryModel::Sc) | (None, _) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_threads_have_the_processors_for_themselves() {
        assert!(jobs_for(Engine::Native, Some(4)).1.is_some());
        assert_eq!(jobs_for(Engine::Native, None), (1, None));
        assert_eq!(jobs_for(Engine::Controlled, Some(4)), (4, None));
    }
}
