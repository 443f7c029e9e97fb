//! Chooses the engine for a target, and falls back to native threads where it cannot be controlled.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::Uncontrolled;
use crate::adapter::compile::{self, Flavour};
use crate::adapter::head::Head;
use crate::binary::symbols::SourceLines;
use crate::binary::{atomics, uninstrumented};
use crate::core::plan::{Clock, Control, Engine, MemoryModel, Plan};
use crate::schedule;

/// With more calls of each thread than this, `auto` means native threads, which are much faster.
const CALLS_CONTROLLED_MAX: u64 = 1_000;
/// One thread of the controlled engine's creates and drains the structure.
const THREADS_CONTROLLED_MAX: u32 = schedule::THREADS_MAX as u32 - 1;
/// The least result of [`EngineChoice::leave_after`].
const LEAVE_AFTER_MIN: Duration = Duration::from_secs(1);

/// The value of `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineChoice {
    Auto,
    Native,
    Controlled,
    /// Threads that rr's chaos mode switches, recorded: findings can be debugged, backwards too
    Rr,
}

impl EngineChoice {
    /// The engine for an adapter with this head. `auto` is the controlled engine, unless the target
    /// cannot be instrumented or the plan has an option that only native threads have.
    pub fn engine(self, name: &str, head: &Head, plan: &Plan) -> Result<Engine> {
        let can_control = EngineChoice::can_control(head, plan);
        match self {
            EngineChoice::Controlled if !head.hookable => bail!(Uncontrolled::Refused(format!(
                "the adapter of {name} says `Engine: native`, as this engine does not show what it \
                 is about (code compiled before, without hooks, or orders that only a processor \
                 brings about)"
            ))),
            EngineChoice::Controlled if plan.threads > THREADS_CONTROLLED_MAX => {
                bail!(
                    "--threads {}: the controlled engine has at most {THREADS_CONTROLLED_MAX}, as \
                     one more creates and drains the structure; use fewer, or --engine native",
                    plan.threads
                )
            }
            EngineChoice::Controlled => Ok(Engine::Controlled),
            EngineChoice::Rr => Ok(Engine::Rr),
            EngineChoice::Auto if can_control => Ok(Engine::Controlled),
            EngineChoice::Auto | EngineChoice::Native => Ok(Engine::Native),
        }
    }

    /// Whether the controlled engine may run an adapter with this head and these options.
    pub fn can_control(head: &Head, plan: &Plan) -> bool {
        cfg!(target_arch = "x86_64") && head.hookable && !needs_native(plan)
    }

    /// How long the controlled engine is tried on a target whose prebuilt libraries it hardly sees:
    /// long enough for bugs that their locks show, and a small part of the run.
    pub fn leave_after(self, duration: Duration) -> Option<Duration> {
        (self == EngineChoice::Auto).then_some((duration / 10).max(LEAVE_AFTER_MIN))
    }

    /// Runs the plan by `attempt`; with `auto`, runs it again with native threads if the target
    /// cannot be controlled. The second attempt gets the time that was already spent.
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

/// Whether the plan has an option that only native threads have, or too many calls or threads for
/// the controlled engine.
fn needs_native(plan: &Plan) -> bool {
    plan.clock != Clock::Auto
        || !plan.pin
        || !plan.disturb
        || plan.threads > THREADS_CONTROLLED_MAX
        || plan.calls.is_some_and(|calls| calls > CALLS_CONTROLLED_MAX)
}

/// How the target's library is built. rr needs no hooks, but it switches threads only at
/// conditional branches, and with hooks there is one at each access.
pub fn flavour_for(engine: Engine, head: &Head) -> Flavour {
    match engine {
        Engine::Native => Flavour::Plain,
        Engine::Rr if !head.hookable => Flavour::Plain,
        Engine::Rr | Engine::Controlled => Flavour::Hooked,
    }
}

/// The number of harnesses at a time, and a warning if it is not the requested one. Native threads
/// need all processors, because two of them must run at the same instant. A recording needs one.
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

/// Refuses a hooked library with uninstrumented synchronization.
///
/// A thread that waits in a loop of uninstrumented atomics would count as hung. With uninstrumented
/// fences no store may wait in a store buffer, so the memory model becomes `sc`, unless the user
/// asked for another. Notes whether there is an order that is weaker than sequential consistency.
pub fn require_hooks(library: &Path, control: &mut Control) -> Result<()> {
    let found = uninstrumented::find(library).with_context(|| library.display().to_string())?;
    let line = |at: u64| {
        let line = SourceLines::for_library(library).find(&[at]).remove(0);
        line.unwrap_or_else(|| format!("{at:#x} of {}", library.display()))
    };
    if let Some(first) = found.atomics.first() {
        bail!(Uncontrolled::Refused(format!(
            "atomic instructions of the target are inline assembly, or were compiled without \
             hooks, so that no thread can be switched between them ({}, the first: {}). Use the \
             compiler's atomics (std::atomic, __atomic; some libraries have an option for it)",
            found.atomics.len(),
            line(*first),
        )))
    }
    match (found.fences.first(), control.memory_model) {
        (Some(_), MemoryModel::Some) => control.memory_model = MemoryModel::Sc,
        (Some(first), MemoryModel::Tso | MemoryModel::TsoLate | MemoryModel::C11) => bail!(
            "--memory-model: fences of the target are inline assembly, which nobody sees ({}, the \
             first: {}). Use std::atomic_thread_fence, or --memory-model sc",
            found.fences.len(),
            line(*first),
        ),
        (_, MemoryModel::Sc) | (None, _) => {}
    }
    control.all_seq_cst = control.weaken.is_empty()
        && atomics::all_seq_cst(library).with_context(|| library.display().to_string())?;
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
