//! Which engine drives a target, with how many jobs, and how the target is built for it. What the
//! user asked for comes in; the choice goes out.

use crate::cli::EngineChoice;
use crate::compile::Flavour;
use crate::plan::Engine;

/// What `--engine auto` begins with. A target that the controlled engine turns out to have no hold
/// on is driven by native threads all the same (see [`super::fuzz`]).
const AUTO: Engine = Engine::Native;

pub fn engine_for(choice: EngineChoice) -> Engine {
    match choice {
        EngineChoice::Auto => AUTO,
        EngineChoice::Native => Engine::Native,
        EngineChoice::Controlled => Engine::Controlled,
    }
}

/// What a target is built for.
pub fn flavour_for(engine: Engine) -> Flavour {
    match engine {
        Engine::Native => Flavour::Plain,
        Engine::Controlled => Flavour::Hooked,
    }
}

/// How many harnesses run at a time, and what to tell of it. Native threads need the processors
/// for themselves: two of them must run at the same instant.
pub fn jobs_for(engine: Engine, asked: Option<u64>) -> (u64, Option<&'static str>) {
    let cores = || std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    match (engine, asked) {
        (Engine::Controlled, asked) => (asked.unwrap_or_else(cores), None),
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
