//! A plan: all that determines a run, as one value. It comes from the command line, travels to the
//! harness, and is what a finding stores; its `Display` is the line that runs it again. Knows
//! nothing of how it is carried out.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::operation::Op;

/// Most calls of one thread in one round.
pub const CALLS_MAX: u64 = 1_000_000_000;
/// Likewise where a round is recorded and judged as a whole: by other engines than the native one.
pub const WHOLE_CALLS_MAX: u64 = 16_000_000;
/// Most values of one bulk call.
pub const BULK_MAX: u64 = 4096;

/// What drives the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Operating-system threads on this machine's processors.
    Native,
    /// One thread at a time, switched as the seed says.
    Controlled,
    /// Operating-system threads under the recorder rr: one at a time, switched as rr's chaos mode
    /// does, and recorded, so that what happened can be replayed exactly.
    Rr,
}

impl Engine {
    /// As the command line has it.
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
    /// All on one operating-system thread, each with the thread-local storage of its own.
    Fiber,
    /// An operating-system thread each, of which one runs: slower, for debuggers.
    Thread,
}

/// What the controlled engine's heap does with freed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Heap {
    /// One or the other in each round, as the seed says.
    Some,
    /// The block freed last is handed out first, which provokes ABA.
    Reuse,
    /// Never handed out again, which shows every use after free.
    Keep,
}

/// Whether plain loads and stores are scheduling points, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum PlainPoints {
    /// In one round of eight, as the seed says: they are many, and only races need them.
    Some,
    /// In each round.
    All,
    None,
}

/// In which order what threads store is seen by others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryModel {
    /// As `Tso` in one round of eight, as the seed says; else as `Sc`.
    Some,
    /// At once: sequential consistency.
    #[default]
    Sc,
    /// As on x86: total store order. An atomic store that is not sequentially consistent may wait
    /// in its thread's store buffer, as long as the seed says.
    Tso,
    /// The same, each as long as can be.
    TsoLate,
}

/// How the controlled engine schedules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// A policy as `crate::schedule` writes it; none: another in each round, as the seed says.
    pub policy: Option<String>,
    pub carrier: Carrier,
    pub heap: Heap,
    pub plain_points: PlainPoints,
    /// Of plans before there was a choice: sequential consistency.
    #[serde(default)]
    pub memory_model: MemoryModel,
    /// Steps of a round after which it counts as a livelock.
    pub steps_max: u64,
    /// Rounds tell their schedule as a list of switches, which is a policy again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub records: bool,
    /// What the threads do is told, step by step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trail: bool,
}

impl Control {
    /// The options of the command line that say so, where they differ from these defaults; but for
    /// --plain-points, which wants another sign.
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
        if self.steps_max != default.steps_max {
            options.push(("--steps", self.steps_max.to_string()));
        }
        options
    }
}

/// How rr records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    /// Name or path of rr, and its global options, as `-W`.
    pub program: String,
    pub args: Vec<String>,
    /// Most ticks (conditional branches) of a time slice, one after the other from recording to
    /// recording; 0: rr's own limit.
    pub ticks: Vec<u64>,
    /// How long one recording becomes before another begins.
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

/// Where the stamps of timeboxes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The time stamp counter if it can be trusted, else CLOCK_MONOTONIC.
    Auto,
    Tsc,
    Monotonic,
    /// Steps of the controlled engine, which has no other.
    #[value(skip)]
    Steps,
    /// A number that every stamp raises: what `Auto` is under rr, where the time stamp counter
    /// costs 100 microseconds a look, and where only one thread runs at a time.
    #[value(skip)]
    Counter,
}

/// Whether each round has threads of its own or all share the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum FreshThreads {
    /// In some rounds, as the seed says.
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

/// What the threads call, one call after the other, instead of what the seed would draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The calls of each thread.
    pub threads: Vec<Vec<Call>>,
    /// Keys that the drain looks at: those below this.
    pub keys: u64,
    /// Most values that a call carries or asks for; a drain that removes in bulk asks for so many.
    pub values: u64,
    /// One call at a time, and held against the sequential object.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sequential: bool,
    /// How it is scheduled, where it has a schedule of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
}

/// One call of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub op: Op,
    pub args: Vec<i64>,
}

impl Call {
    /// How many values it carries, or asks for.
    pub fn values(&self) -> u64 {
        match (self.op, &self.args[..]) {
            (Op::DequeueBulk, [most]) => (*most).max(0) as u64,
            (_, args) => args.len() as u64,
        }
    }
}

impl Scenario {
    /// How many calls there are.
    pub fn calls(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }
}

/// All that determines a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub build: Build,
    pub engine: Engine,
    /// Model to judge by; none: the target's own.
    pub model: Option<String>,
    pub seed: u64,
    /// Most threads of a round; each round draws between the fewest the target's roles need (two
    /// at least) and this.
    pub threads: u32,
    /// Calls of each thread in each round; none: short rounds and long batches mixed.
    pub calls: Option<u64>,
    /// Keys of sets and maps: most that a round uses.
    pub keys: u64,
    /// Values of a bulk call: most.
    pub bulk: u64,
    /// Weights of operations by name; those not named are drawn anew for each round.
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
                steps_max: 100_000,
                records: false,
                trail: false,
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

/// The command line that carries this plan out; options that have their default are left out. A
/// scenario has no option: a plan that has one is a stored finding's, and is replayed.
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
        // Left out, it may be another.
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
        if self.control.plain_points != default.control.plain_points {
            write!(f, " --plain-points={}", value_name(&self.control.plain_points))?;
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

/// The word as a POSIX shell needs it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Which of a plan's rounds a run does: of `count` runs, this is the one with number `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    pub index: u64,
    pub count: u64,
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
        let parts = text.split_once('/').and_then(|(index, count)| {
            Some(Shard { index: index.parse().ok()?, count: count.parse().ok()? })
        });
        match parts {
            Some(shard) if shard.index < shard.count && shard.count <= 1 << 20 => Ok(shard),
            _ => Err("expected i/n with 0 <= i < n, as in 0/8".to_string()),
        }
    }
}

/// How a harness begins a line about an error of its own, as opposed to one of the target.
pub const OWN_FAILURE: &str = "interlap-harness failed:";

/// What the main program hands to a harness process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    pub plan: Plan,
    /// The compiled adapter.
    pub library: PathBuf,
    /// Rounds to do: the first, how far apart, and one past the last if there is a last.
    pub round_first: u64,
    pub round_step: u64,
    pub round_end: Option<u64>,
    /// Processor time without a step of the controlled engine that counts as a hang.
    pub hang_milliseconds: u64,
    /// Time after which the process ends by its own will, once a round is over.
    pub milliseconds_max: Option<u64>,
    /// A directory of this process alone, for the target's files.
    pub directory: PathBuf,
}
