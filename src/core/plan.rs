//! Plans: everything that determines a run, as one value.
//! A plan is made from the command line, sent to the harness, and stored with each finding. Its
//! `Display` is the command line that runs it again.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::memory_order::{WeakenedAccess, Weakening};
use super::operation::Op;
pub use super::words::quoted;

/// Maximum number of calls of one thread in one round.
pub const CALLS_MAX: u64 = 1_000_000_000;
/// As [`CALLS_MAX`], for engines that record and check a round as a whole: all but the native one.
pub const WHOLE_CALLS_MAX: u64 = 16_000_000;
/// Maximum number of values of one bulk call.
pub const BULK_MAX: u64 = 4096;

/// What drives the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Operating-system threads on this machine's processors.
    Native,
    /// One thread at a time, scheduled by a policy from the seed.
    Controlled,
    /// Operating-system threads under the recorder rr, whose chaos mode schedules one at a time.
    /// A recording can be replayed exactly.
    Rr,
}

impl Engine {
    /// The value of `--engine`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Native => "native",
            Engine::Controlled => "controlled",
            Engine::Rr => "rr",
        }
    }
}

/// What the threads of the controlled engine run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Carrier {
    /// All on one operating-system thread, each with thread-local storage of its own.
    Fiber,
    /// An operating-system thread each, of which one runs at a time: slower, for debuggers.
    Thread,
}

/// What the controlled engine's heap does with freed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Heap {
    /// Reuse or keep, drawn from the seed for each round.
    Some,
    /// The block freed last is allocated first, which provokes ABA.
    Reuse,
    /// Freed blocks are never allocated again, which shows every use after free.
    Keep,
}

/// Whether plain loads and stores are scheduling points as well as atomic ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum PlainPoints {
    /// In one round of eight, drawn from the seed: they are many, and only data races need them.
    Some,
    /// In each round.
    All,
    None,
}

/// In which rounds data races are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Races {
    #[default]
    Off,
    /// In those of C11 and in one of 32, drawn from the seed; where all atomic accesses are
    /// sequentially consistent, in one of eight (of four, at first). There, plain accesses are
    /// reported, too.
    Some,
    All,
}

/// The order in which other threads see a thread's stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryModel {
    /// TSO and C11 in one round of eight each, drawn from the seed (of four, at first); else SC.
    /// docs/policies.md says why.
    Some,
    /// Sequential consistency: a store is visible at once.
    #[default]
    Sc,
    /// Total store order, as on x86: an atomic store that is not sequentially consistent may wait
    /// in its thread's store buffer, for a time drawn from the seed.
    Tso,
    /// Total store order in which each store waits as long as possible.
    TsoLate,
    /// As C++20 has it: an atomic load may read any store that nothing hides from its thread.
    C11,
}

/// How the controlled engine schedules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// A policy in the notation of `crate::schedule`; none: drawn from the seed for each round.
    pub policy: Option<String>,
    pub carrier: Carrier,
    pub heap: Heap,
    pub plain_points: PlainPoints,
    /// Sequential consistency in plans that were stored before there was a choice.
    #[serde(default)]
    pub memory_model: MemoryModel,
    /// All atomic accesses of the target are sequentially consistent: so are then the rounds of
    /// [`MemoryModel::Some`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_seq_cst: bool,
    /// Off in plans that were stored before there was a choice.
    #[serde(default)]
    pub races: Races,
    /// Steps of a round after which it counts as a livelock.
    pub steps_max: u64,
    /// Rounds report their schedule as a list of switches, which can be used as a policy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub records: bool,
    /// Rounds report what the threads do, step by step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trail: bool,
    /// Atomic accesses that are made with a weaker order than is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaken: Vec<Weakening>,
    /// The harness reports the orders of the atomic accesses that were made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notes_orders: bool,
}

impl Control {
    /// The names of the command-line options that differ from the defaults.
    pub fn chosen(&self) -> Vec<&'static str> {
        let default = Plan::new("", 0).control;
        let options = [self.options(&default), self.options_with_equals(&default)].concat();
        options.into_iter().map(|(name, _)| name).collect()
    }

    /// The command-line options that differ from these defaults.
    fn options(&self, default: &Control) -> Vec<(&'static str, String)> {
        let mut options = Vec::new();
        if let Some(policy) = &self.policy {
            options.push(("--policy", policy.clone()));
        }
        if self.carrier != default.carrier {
            options.push(("--carrier", value_name(&self.carrier)));
        }
        if self.heap != default.heap {
            options.push(("--heap", value_name(&self.heap)));
        }
        if self.memory_model != default.memory_model {
            options.push(("--memory-model", value_name(&self.memory_model)));
        }
        options.extend(self.weaken.iter().map(|weaken| ("--weaken", weaken.to_string())));
        if self.steps_max != default.steps_max {
            options.push(("--steps", self.steps_max.to_string()));
        }
        options
    }

    /// The same of those whose value must follow an equals sign.
    fn options_with_equals(&self, default: &Control) -> Vec<(&'static str, String)> {
        let mut options = Vec::new();
        if self.plain_points != default.plain_points {
            options.push(("--plain-points", value_name(&self.plain_points)));
        }
        if self.races != default.races {
            options.push(("--races", value_name(&self.races)));
        }
        options
    }
}

/// The settings of rr.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    /// Name or path of rr, and its global options, as `-W`.
    pub program: String,
    pub args: Vec<String>,
    /// Limits for a time slice in ticks (conditional branches). Recordings use them in turn; 0 is
    /// rr's own limit.
    pub ticks: Vec<u64>,
    /// Length of a recording, after which the next begins.
    pub milliseconds: u64,
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder {
            program: "rr".to_string(),
            args: Vec::new(),
            ticks: vec![100, 1_000, 10_000, 0],
            milliseconds: 10_000,
        }
    }
}

/// The source of the stamps of timeboxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The time stamp counter if it can be trusted, else CLOCK_MONOTONIC.
    Auto,
    Tsc,
    Monotonic,
    /// Steps of the controlled engine, which has no other clock.
    #[value(skip)]
    Steps,
    /// A counter that every stamp increments. `Auto` means this under rr, where reading the time
    /// stamp counter takes 100 microseconds and only one thread runs at a time.
    #[value(skip)]
    Counter,
}

/// Whether each round starts new threads or reuses those of the round before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum FreshThreads {
    /// In some rounds, drawn from the seed.
    Some,
    Always,
    Never,
}

/// What decides how the adapter is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// Bundled name, or path of the adapter's source.
    pub adapter: String,
    pub include_dirs: Vec<PathBuf>,
    pub libraries: Vec<String>,
    pub flags: Vec<String>,
}

/// The calls of each thread, listed instead of drawn from the seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The calls of each thread.
    pub threads: Vec<Vec<Call>>,
    /// The drain reads the keys below this.
    pub keys: u64,
    /// Maximum number of values that a call carries or asks for. A drain in bulk asks for as many.
    pub values: u64,
    /// One call at a time, each compared with the sequential object.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sequential: bool,
    /// The calls are those of the target's sequential model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_model: bool,
    /// Native threads run free: no stamps between the calls of a thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// The policy, where the scenario has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
}

/// The first rounds of a plan make one call at a time, to compare the adapter with the sequential
/// object. They are the warm-up, and count nowhere as tested.
pub const WARM_UP_ROUNDS: u64 = 16;

/// One call of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub op: Op,
    pub args: Vec<i64>,
    /// The results that a sequential model is to judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<i64>,
}

impl Call {
    pub fn new(op: Op, args: impl Into<Vec<i64>>) -> Call {
        Call { op, args: args.into(), answer: Vec::new() }
    }

    /// How many values the call carries or asks for.
    pub fn values(&self) -> u64 {
        match (self.op, &self.args[..]) {
            (Op::DequeueBulk, [most]) => (*most).max(0) as u64,
            (_, args) => args.len() as u64,
        }
    }
}

impl Scenario {
    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }
}

/// Everything that determines a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub build: Build,
    pub engine: Engine,
    /// The model to check against; none: the adapter's.
    pub model: Option<String>,
    pub seed: u64,
    /// Maximum number of threads of a round. Each round draws a number between the minimum for the
    /// target's roles, at least two, and this.
    pub threads: u32,
    /// Calls of each thread in each round; none: short rounds and long batches mixed.
    pub calls: Option<u64>,
    /// Maximum number of keys that a round uses, for sets and maps.
    pub keys: u64,
    /// Maximum number of values of a bulk call.
    pub bulk: u64,
    /// Weights of operations by name. The others are drawn for each round.
    pub weights: Vec<(String, u32)>,
    pub fresh_threads: FreshThreads,
    pub clock: Clock,
    /// Bind each thread to a processor.
    pub pin: bool,
    /// Stall threads in the middle of calls, in half of the rounds.
    pub disturb: bool,
    /// Memory the harness may take, in MiB.
    pub memory_mib_max: u64,
    pub control: Control,
    #[serde(default)]
    pub recorder: Recorder,
    /// The calls of rounds, which take turns in them; none: drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<Scenario>,
}

/// The part of its memory that a process must take in the time of a hang, so that a slow leak is
/// not waited for too long.
const LEAK_PART: u64 = 32;

impl Plan {
    pub fn new(adapter: &str, seed: u64) -> Plan {
        Plan {
            build: Build {
                adapter: adapter.to_string(),
                include_dirs: Vec::new(),
                libraries: Vec::new(),
                flags: Vec::new(),
            },
            engine: Engine::Native,
            model: None,
            seed,
            threads: 4,
            calls: None,
            keys: 16,
            bulk: 64,
            weights: Vec::new(),
            fresh_threads: FreshThreads::Some,
            clock: Clock::Auto,
            pin: true,
            disturb: true,
            memory_mib_max: 4096,
            control: Control {
                policy: None,
                carrier: Carrier::Fiber,
                heap: Heap::Some,
                plain_points: PlainPoints::Some,
                memory_model: MemoryModel::Some,
                all_seq_cst: false,
                races: Races::Some,
                steps_max: 100_000,
                records: false,
                trail: false,
                weaken: Vec::new(),
                notes_orders: false,
            },
            recorder: Recorder::default(),
            scenarios: Vec::new(),
        }
    }
}

impl Plan {
    /// What the threads call in this round, unless it is drawn.
    pub fn scenario(&self, round: u64) -> Option<&Scenario> {
        let count = self.scenarios.len() as u64;
        self.scenarios.get(round.checked_rem(count)? as usize)
    }

    /// A process that takes so many bytes, without any progress, in the time of a hang does not
    /// hang: it fills its memory, and will end for want of it.
    pub fn leak_bytes(&self) -> u64 {
        (self.memory_mib_max << 20) / LEAK_PART
    }

    /// The adapter's name without directory and extension.
    pub fn target_name(&self) -> &str {
        let adapter = std::path::Path::new(&self.build.adapter);
        adapter.file_stem().and_then(|stem| stem.to_str()).unwrap_or("target")
    }
}

impl Recorder {
    /// The options of the command line that differ from their defaults.
    fn options(&self) -> Vec<(&'static str, String)> {
        let default = Recorder::default();
        let mut options = Vec::new();
        if self.program != default.program {
            options.push(("--rr", self.program.clone()));
        }
        options.extend(self.args.iter().map(|arg| ("--rr-arg", arg.clone())));
        if self.ticks != default.ticks {
            let ticks: Vec<String> = self.ticks.iter().map(u64::to_string).collect();
            options.push(("--rr-ticks", ticks.join(",")));
        }
        if self.milliseconds != default.milliseconds {
            options.push(("--rr-for", format!("{}ms", self.milliseconds)));
        }
        options
    }
}

/// The command line that runs this plan, without the options that have their default. Scenarios
/// have no option: only plans of stored findings contain them, and those are replayed.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let default = Plan::new(&self.build.adapter, self.seed);
        write!(f, "interlap fuzz {}", quoted(&self.build.adapter))?;
        let mut option = |name: &str, value: &str| write!(f, " {name} {}", quoted(value));
        for dir in &self.build.include_dirs {
            option("-I", &dir.display().to_string())?;
        }
        for library in &self.build.libraries {
            option("-l", library)?;
        }
        for flag in &self.build.flags {
            option("--cflag", flag)?;
        }
        if let Some(model) = &self.model {
            option("--model", model)?;
        }
        option("--seed", &self.seed.to_string())?;
        if self.threads != default.threads {
            option("--threads", &self.threads.to_string())?;
        }
        if let Some(calls) = self.calls {
            option("--calls", &calls.to_string())?;
        }
        if self.keys != default.keys {
            option("--keys", &self.keys.to_string())?;
        }
        if self.bulk != default.bulk {
            option("--bulk", &self.bulk.to_string())?;
        }
        for (name, weight) in &self.weights {
            option("--weight", &format!("{name}={weight}"))?;
        }
        if self.fresh_threads != default.fresh_threads {
            option("--fresh-threads", &value_name(&self.fresh_threads))?;
        }
        if self.clock != default.clock {
            option("--clock", &value_name(&self.clock))?;
        }
        // Always named: the default depends on the target.
        option("--engine", self.engine.name())?;
        for (name, value) in self.recorder.options() {
            option(name, &value)?;
        }
        for (name, value) in self.control.options(&default.control) {
            option(name, &value)?;
        }
        if self.memory_mib_max != default.memory_mib_max {
            option("--memory", &self.memory_mib_max.to_string())?;
        }
        for (name, value) in self.control.options_with_equals(&default.control) {
            write!(f, " {name}={value}")?;
        }
        if !self.pin {
            write!(f, " --no-pin")?;
        }
        if !self.disturb {
            write!(f, " --no-disturb")?;
        }
        Ok(())
    }
}

fn value_name(value: &impl clap::ValueEnum) -> String {
    let value = value.to_possible_value().expect("no value is hidden");
    value.get_name().to_string()
}

/// The share of a plan's rounds that one run does: run number `index` of `count` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fraction")]
pub struct Shard {
    pub index: u64,
    pub count: u64,
}

/// A shard as a file has it.
#[derive(Deserialize)]
struct Fraction {
    index: u64,
    count: u64,
}

impl TryFrom<Fraction> for Shard {
    type Error = &'static str;

    fn try_from(Fraction { index, count }: Fraction) -> Result<Shard, Self::Error> {
        match index < count && count <= 1 << 20 {
            true => Ok(Shard { index, count }),
            false => Err("expected i/n with 0 <= i < n, as in 0/8"),
        }
    }
}

impl Shard {
    pub const ALL: Shard = Shard { index: 0, count: 1 };
}

/// As in `--shard 2/8`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let (index, count) = text.split_once('/').unwrap_or_default();
        // No shard has this number.
        let number = |text: &str| text.parse().unwrap_or(u64::MAX);
        let fraction = Fraction { index: number(index), count: number(count) };
        Ok(Shard::try_from(fraction)?)
    }
}

/// The prefix of a line in which a harness reports an error of its own, not of the target.
pub const OWN_FAILURE: &str = "interlap-harness failed:";

/// The places of a data race, as addresses in the library's file, the lower one first; which thread
/// comes first is by chance. 0: not in the library.
pub type RacePlaces = [u64; 2];

/// The instructions of the main program to a harness process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub plan: Plan,
    /// The compiled adapter.
    pub library: PathBuf,
    /// Rounds to do: the first, the distance to the next, and one past the last if there is one.
    pub round_first: u64,
    pub round_step: u64,
    pub round_end: Option<u64>,
    /// Processor time without a step of the controlled engine after which the round counts as hung.
    pub hang_milliseconds: u64,
    /// Time after which the process exits at the end of a round.
    pub milliseconds_max: Option<u64>,
    /// A directory for the target's files that no other process uses.
    pub directory: PathBuf,
    /// Data races that do not end a round.
    #[serde(default)]
    pub races_known: Vec<RacePlaces>,
    /// What the plan weakens, in this library.
    #[serde(default)]
    pub weakened: Vec<WeakenedAccess>,
    /// Whether the controlled engine judges short rounds itself, and keeps the calls of those that
    /// are consistent.
    #[serde(default)]
    pub judges: bool,
}
