//! The notation of policies with their parameters, and which policy each round draws.
//! Examples: `walk:5`, `pct:3`, `pos`, `surw`, `delay:2`, `stall`, `list:12@1,40@0`,
//! `turns:0.1.4@2`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::THREADS_MAX;
use super::turns::{self, Turn};
use crate::core::random::Random;

/// Separates the draws of policies from others of the same seed and round.
const DRAW: u64 = 0x5c4e_d01e;
/// The same for mutations of a schedule.
const NEAR: u64 = 0x2ea2_0b1e;
/// Maximum number of change points and delays. More would not bound anything.
const BOUND_MAX: u64 = 1000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Spec {
    /// Switches threads with this probability at each point.
    Walk { percent: u32 },
    /// Random priorities, lowered at `depth` - 1 change points.
    Pct { depth: u32 },
    /// Random priorities of events, drawn again where events race.
    Pos,
    /// All orders of the accesses to one address are equally likely.
    Surw,
    /// Each thread runs until it blocks or ends, except at this many delays.
    Delay { delays: u32 },
    /// One thread is stopped while others complete operations.
    Stall,
    /// A recorded schedule, by step: `list:STEP@THREAD,...`.
    List(Vec<Switch>),
    /// A recorded schedule, by position in the calls: `turns:THREAD.CALL.STEPS@THREAD,...`.
    Turns(Vec<Turn>),
    /// Mutations of a recorded schedule, a different one in each round ([`Spec::for_round`]). A
    /// policy made directly from it repeats the recorded schedule.
    Near(Vec<Turn>),
}

/// At step `step`, thread `thread` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    pub step: u64,
    pub thread: usize,
}

impl Spec {
    /// The policies that rounds draw from; those of one family are adjacent. Parameters of a family
    /// differ as much as the bugs they find: measured hits per schedule of walks of 3 % and 20 %,
    /// and of PCT 3 and 10, differ by up to 70 times, in favour of either.
    pub const ROTATION: &[Spec] = &[
        Spec::Walk { percent: 1 },
        Spec::Walk { percent: 3 },
        Spec::Walk { percent: 5 },
        Spec::Walk { percent: 10 },
        Spec::Walk { percent: 20 },
        Spec::Pct { depth: 3 },
        Spec::Pct { depth: 5 },
        Spec::Pct { depth: 10 },
        Spec::Pos,
        Spec::Surw,
        Spec::Delay { delays: 1 },
        Spec::Delay { delays: 2 },
        Spec::Delay { delays: 4 },
        Spec::Stall,
    ];

    /// The policy of a round. The family is drawn first, then its parameter: neighbouring
    /// parameters find much the same bugs, so a family with many of them should not get more rounds
    /// than one without any (POS).
    pub fn drawn(seed: u64, round: u64) -> Spec {
        let mut random = Random::derived(seed, &[DRAW, round]);
        let families = || Spec::ROTATION.chunk_by(|a, b| a.family() == b.family());
        let n = random.below(families().count() as u64);
        let family = families().nth(n as usize).unwrap_or(Spec::ROTATION);
        random.pick(family).clone()
    }

    /// The policy for one round. It differs between rounds only for `Near`: the recorded schedule
    /// in one round of eight, a mutation in three, a policy drawn from [`Spec::ROTATION`] in four.
    pub fn for_round(&self, seed: u64, round: u64) -> Spec {
        let Spec::Near(turns) = self else { return self.clone() };
        let mut random = Random::derived(seed, &[NEAR, round]);
        match random.below(8) {
            0 => Spec::Turns(turns.clone()),
            1..4 => Spec::Turns(turns::mutated(turns, &mut random)),
            _ => Spec::drawn(seed, round),
        }
    }

    /// As [`fmt::Display`], without the entries of a list, for tables.
    pub fn name(&self) -> String {
        match self {
            Spec::List(_) | Spec::Turns(_) | Spec::Near(_) => self.family().to_string(),
            _ => self.to_string(),
        }
    }

    fn family(&self) -> &'static str {
        match self {
            Spec::Walk { .. } => "walk",
            Spec::Pct { .. } => "pct",
            Spec::Pos => "pos",
            Spec::Surw => "surw",
            Spec::Delay { .. } => "delay",
            Spec::Stall => "stall",
            Spec::List(_) => "list",
            Spec::Turns(_) => "turns",
            Spec::Near(_) => "near",
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.family())?;
        match self {
            Spec::Walk { percent: n } | Spec::Pct { depth: n } | Spec::Delay { delays: n } => {
                write!(f, ":{n}")
            }
            Spec::Pos | Spec::Surw | Spec::Stall => Ok(()),
            Spec::Turns(turns) | Spec::Near(turns) => write!(f, ":{}", turns::text(turns)),
            Spec::List(switches) => {
                for (i, switch) in switches.iter().enumerate() {
                    let before = if i == 0 { ':' } else { ',' };
                    write!(f, "{before}{}@{}", switch.step, switch.thread)?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let (family, parameter) = match text.split_once(':') {
            Some((family, parameter)) => (family, Some(parameter)),
            None => (text, None),
        };
        let number = |low, high| number(text, parameter.unwrap_or(""), low, high);
        let entries = || parameter.unwrap_or("").split(',').filter(|entry| !entry.is_empty());
        let turns = || entries().map(|entry| turn(text, entry)).collect::<Result<_, _>>();
        match family {
            "walk" => Ok(Spec::Walk { percent: number(0, 100)? as u32 }),
            "pct" => Ok(Spec::Pct { depth: number(1, BOUND_MAX)? as u32 }),
            "delay" => Ok(Spec::Delay { delays: number(0, BOUND_MAX)? as u32 }),
            "list" => Ok(Spec::List(
                entries().map(|entry| switch(text, entry)).collect::<Result<_, _>>()?,
            )),
            "turns" => Ok(Spec::Turns(turns()?)),
            "near" => Ok(Spec::Near(turns()?)),
            "pos" | "surw" | "stall" if parameter.is_some() => {
                Err(format!("schedule '{text}': {family} has no parameter"))
            }
            "pos" => Ok(Spec::Pos),
            "surw" => Ok(Spec::Surw),
            "stall" => Ok(Spec::Stall),
            _ => Err(format!(
                "unknown schedule '{text}'; choose one of walk:PERCENT, pct:DEPTH, pos, surw, \
                 delay:DELAYS, stall, list:STEP@THREAD,..., turns:THREAD.CALL.STEPS@THREAD,..."
            )),
        }
    }
}

fn switch(text: &str, entry: &str) -> Result<Switch, String> {
    let (step, thread) = entry.split_once('@').unwrap_or((entry, ""));
    let step = number(text, step, 0, u64::MAX)?;
    Ok(Switch { step, thread: number(text, thread, 0, THREADS_MAX as u64 - 1)? as usize })
}

fn turn(text: &str, entry: &str) -> Result<Turn, String> {
    entry.parse().map_err(|error| format!("schedule '{text}': {error}"))
}

fn number(text: &str, digits: &str, low: u64, high: u64) -> Result<u64, String> {
    match digits.parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => Err(format!("schedule '{text}': '{digits}' is not a number from {low} to {high}")),
    }
}

impl TryFrom<String> for Spec {
    type Error = String;

    fn try_from(text: String) -> Result<Spec, String> {
        text.parse()
    }
}

impl From<Spec> for String {
    fn from(spec: Spec) -> String {
        spec.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip_as_text_and_json() {
        let list =
            Spec::List(vec![Switch { step: 12, thread: 1 }, Switch { step: u64::MAX, thread: 63 }]);
        assert_eq!(list.to_string(), "list:12@1,18446744073709551615@63");
        assert_eq!(list.name(), "list");
        let turns: Spec = "turns:0.1.4@2,1.2.17~0".parse().expect("turns");
        let Spec::Turns(places) = &turns else { panic!("{turns:?}") };
        let near = Spec::Near(places.clone());
        assert_eq!(
            (turns.name(), near.to_string()),
            ("turns".into(), format!("near{}", &turns.to_string()[5..]))
        );
        let others = [list, turns, near, Spec::List(Vec::new()), Spec::Walk { percent: 0 }];
        for spec in Spec::ROTATION.iter().chain(&others) {
            assert_eq!(spec.to_string().parse().as_ref(), Ok(spec));
            let json = serde_json::to_string(spec).expect("a string");
            assert_eq!(json, format!("\"{spec}\""));
            assert_eq!(&serde_json::from_str::<Spec>(&json).expect("the same"), spec);
        }
        let texts: Vec<String> = Spec::ROTATION.iter().map(Spec::name).collect();
        let expected = "walk:1 walk:3 walk:5 walk:10 walk:20 pct:3 pct:5 pct:10 pos surw delay:1 \
                        delay:2 delay:4 stall";
        assert_eq!(texts.join(" "), expected);
    }

    #[test]
    fn malformed_policies_are_refused() {
        for text in [
            "",
            "walk",
            "walk:",
            "walk:101",
            "walk:-1",
            "walk:x",
            "pct:0",
            "pct:5000000000",
            "pos:1",
            "pos:",
            "surw:2",
            "delay",
            "stall:3",
            "list:3",
            "turns:3@1",
            "near:1.2.3",
            "list:3@64",
            "list:@1",
            "list:1@2;3@4",
            "Walk:3",
            "walk:3:4",
            "dfs",
        ] {
            let error = text.parse::<Spec>().expect_err(text);
            assert!(error.contains(&format!("'{text}'")), "{error}");
        }
    }

    #[test]
    fn families_have_equal_shares() {
        let mut seen = std::collections::BTreeMap::new();
        for round in 0..60_000 {
            *seen.entry(Spec::drawn(1, round).name()).or_insert(0u32) += 1;
        }
        assert_eq!(seen.len(), Spec::ROTATION.len());
        for spec in Spec::ROTATION {
            let siblings = Spec::ROTATION.iter().filter(|other| other.family() == spec.family());
            let expected = 10_000 / siblings.count() as u32;
            let count = seen[&spec.name()];
            assert!(count.abs_diff(expected) < 400, "{spec}: {count}, expected {expected}");
        }
    }

    /// After a change here every recorded seed replays something else.
    #[test]
    fn the_draws_of_a_seed_never_change() {
        let drawn: Vec<String> = (0..8).map(|round| Spec::drawn(5, round).name()).collect();
        assert_eq!(drawn.join(" "), "delay:1 stall pct:5 stall pos pos pct:10 pos");
    }
}
