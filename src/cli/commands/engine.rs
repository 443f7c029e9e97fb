//! Which engine drives a target, with how many jobs, and how the target is built for it. What the
//! user asked for comes in; the choice goes out.

use crate::adapter::compile::Flavour;
use crate::adapter::head::Head;
use crate::cli::arguments::{EngineChoice, Workload};
use crate::core::plan::{Clock, Engine};

/// Rounds with more calls of a thread than this are for native threads, which are much faster.
const CALLS_CONTROLLED_MAX: u64 = 1_000;

/// What the user chose. `auto` is the controlled engine, unless the target cannot be hooked or what
/// else was asked for has a meaning for native threads only; a target that the controlled engine
/// turns out to have no hold on is driven by native threads all the same (see [`super::fuzz`]).
pub fn engine_for(workload: &Workload, head: &Head) -> Engine {
    match workload.engine {
        EngineChoice::Native => Engine::Native,
        EngineChoice::Controlled => Engine::Controlled,
        EngineChoice::Rr => Engine::Rr,
        EngineChoice::Auto if !cfg!(target_arch = "x86_64") => Engine::Native,
        EngineChoice::Auto if head.hookable && !wants_native(workload) => Engine::Controlled,
        EngineChoice::Auto => Engine::Native,
    }
}

fn wants_native(workload: &Workload) -> bool {
    workload.clock != Clock::Auto
        || workload.no_pin
        || workload.no_disturb
        || workload.calls.is_some_and(|calls| calls > CALLS_CONTROLLED_MAX)
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

/// How many harnesses run at a time, and what to tell of it. Native threads need the processors
/// for themselves: two of them must run at the same instant. A recording needs but one.
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
