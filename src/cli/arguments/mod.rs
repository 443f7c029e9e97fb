//! Parses the command line: every command's options, help texts and examples.
//! All arguments become typed values here.
//!
//! - `finding`: Options of the commands that take one finding: show, explain, shrink, replay,
//!   export.
//! - `history`: Options of the commands that take a recorded history: check, convert.
//! - `orders`: Options of `interlap orders`.
//! - `triage`: Options of `interlap triage`, and the shared options for continuous integration.

mod finding;
mod history;
mod orders;
mod triage;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, Parser, Subcommand};

use crate::core::memory_order::Weakening;
use crate::core::plan::{
    BULK_MAX, CALLS_MAX, Carrier, Clock, Engine, FreshThreads, Heap, MemoryModel, PlainPoints,
    Races, Shard,
};
use crate::fuzz::engine::EngineChoice;
use crate::model::program::Program;
use crate::model::settings::{CONFIGURATION, joined};
use crate::model::{Kind, Spec};
use crate::trace::area::THREADS_MAX;

pub use finding::{Explain, Export, Place, Replay, Show, Shrink, Stop, Trust};
pub use history::{Check, Convert, Initial, Source};
pub use orders::Orders;
pub use triage::{Ci, Triage};

use finding::{EXPLAIN_EXAMPLES, EXPORT_EXAMPLES, REPLAY_EXAMPLES, SHRINK_EXAMPLES};
use history::{CHECK_EXAMPLES, CONVERT_EXAMPLES};

/// Fuzzes concurrent data structures in native libraries.
///
/// interlap calls a C or C++ structure from many threads, takes a timebox (start and end stamp)
/// around every call, and decides whether some order of the calls explains every answer under a
/// sequential model.
#[derive(Parser, Debug)]
#[command(version, arg_required_else_help = true, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit status: 0 nothing found, 1 a finding, 2 usage or input/output error, 3 not decided.
`interlap COMMAND --help` has examples. docs/glossary.md explains the terms.";

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Fuzz a structure: a bundled target, or your own adapter's source
    #[command(after_help = FUZZ_EXAMPLES)]
    Fuzz(Box<Fuzz>),
    /// Find out which memory orders a structure needs: take each weaker, and run the same rounds
    #[command(after_help = orders::EXAMPLES)]
    Orders(Box<Orders>),
    /// Join the findings and statistics of several runs of one target
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(Merge),
    /// List findings of many runs: each bug once, known ones by name
    #[command(after_help = triage::TRIAGE_EXAMPLES)]
    Triage(Triage),
    /// List the rounds that runs kept in a store
    #[command(after_help = LIST_EXAMPLES)]
    List(List),
    /// Check recorded histories against a model
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Convert a history to another format
    #[command(after_help = CONVERT_EXAMPLES)]
    Convert(Convert),
    /// Reproduce a finding: check its history, then rerun its round (native threads: its plan,
    /// until it recurs)
    #[command(after_help = REPLAY_EXAMPLES)]
    Replay(Replay),
    /// Minimize a finding: fewer calls, threads and preemptions that still show it
    #[command(after_help = SHRINK_EXAMPLES)]
    Shrink(Shrink),
    /// Show what the threads of a finding did, step by step, with source lines
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// Write a program that reproduces a finding without interlap, and a bug report
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
    /// Show a finding, or what a run did
    Show(Show),
    /// List the bundled targets and whether each can be built here
    Targets(Format),
    /// Write a template adapter, or a template model
    #[command(after_help = NEW_EXAMPLES)]
    New(New),
    /// Report what this machine can do
    Doctor(Doctor),
    /// Answer for a model, over a socket
    #[command(hide = true)]
    ServeModel { file: PathBuf, settings: String },
}

const FUZZ_EXAMPLES: &str = "\
Examples:
  interlap fuzz moodycamel                      a bundled target, for a minute
  interlap fuzz treiber_aba                     one with a bug, to see a finding
  interlap fuzz my_queue.cpp -I ../include      your own adapter, compiled as needed
  interlap fuzz my_set.cpp --for 10m --threads 8 --keys 4 --html run.html
  interlap fuzz my_queue.cpp --calls 10000 --rounds 20 --model fifo-per-producer:empty=count
  interlap fuzz my_queue.cpp --engine native --calls 1000000000 --for 10m     one long batch
  interlap fuzz my_pool.cpp --model-crate ../pool-model     a model in Rust
  interlap fuzz my_queue.cpp --weight enqueue_bulk=0 --weight dequeue=5 --json
  interlap fuzz my_queue.cpp --engine controlled --jobs 8
  interlap fuzz my_queue.cpp --engine rr        recorded, to step through it backwards
  interlap fuzz my_queue.cpp --seed 1 --shard 0/2 --out a     half of the rounds, to be merged
  interlap fuzz my_queue.cpp --known known.toml --junit junit.xml --sarif findings.sarif
  cp -r findings/my_queue-91c2 regressions/; interlap fuzz my_queue.cpp    replays it first";

const MERGE_EXAMPLES: &str = "\
Examples:
  interlap fuzz moodycamel --seed 1 --shard 0/2 --out a      on one machine
  interlap fuzz moodycamel --seed 1 --shard 1/2 --out b      on another
  interlap merge a b --out both

Of a finding that several runs have, the shortest history is kept. Schedules that several runs had
count several times; pairs count once.";

const LIST_EXAMPLES: &str = "\
Examples:
  interlap fuzz ms_queue --for 1m --store rounds      keeps rounds in rounds/ms_queue-1
  interlap list rounds --undecided                    those that were not decided
  interlap list rounds --slow 5                       the five whose check took longest
  interlap check rounds --model Queue.tla             all of them under another model";

const NEW_EXAMPLES: &str = "\
Examples:
  interlap new queue my_queue       writes my_queue.cpp; then: interlap fuzz my_queue.cpp
  interlap new --c queue my_queue   writes my_queue.c, for headers that do not compile as C++
  interlap new custom my_pool       for methods of any kind
  interlap new model my_model       writes the crate my_model, for --model-crate
  interlap new --spec Queue.tla my_queue
                                    a method for each action of a specification in TLA+
Families: queue, stack, deque, set, range-set, map, register, priority-queue, counter, log, kv,
store (transactions), custom";

#[derive(Args, Debug)]
pub struct List {
    /// The store: a directory that `interlap fuzz --store` made
    pub store: PathBuf,
    /// Only rounds that were not decided
    #[arg(long)]
    pub undecided: bool,
    /// Only the N rounds whose check took longest, the slowest first
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10")]
    pub slow: Option<usize>,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct Fuzz {
    /// Name of a bundled target (see `interlap targets`), or an adapter's source (.c, .cc,
    /// .cpp, .cxx)
    pub target: String,
    #[command(flatten)]
    pub build: Build,
    #[command(flatten)]
    pub workload: Workload,
    #[command(flatten)]
    pub run: Run,
    /// Number of rounds, after the 16 of the warm-up, which make one call at a time; if not given,
    /// as many as fit in the time
    #[arg(long, value_name = "N")]
    pub rounds: Option<u64>,
    /// Harness processes at a time. Default: one for each processor with the controlled and the rr
    /// engine; always one with the native engine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub jobs: Option<u64>,
    /// Run only part i of n of the rounds, 0 <= i < n: for several machines with one --seed
    #[arg(long, value_name = "i/n", default_value_t = Shard::ALL, hide_default_value = true)]
    pub shard: Shard,
    /// Stop after N distinct findings that are not known (--known)
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub findings: u64,
    /// Directory for results: a directory for each finding (its page.html opens in any browser) and
    /// the run's numbers (run.json)
    #[arg(long, value_name = "DIR", default_value = "findings")]
    pub out: PathBuf,
    /// File for the history of every round, for `interlap check`
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Directory in which runs keep the histories of their rounds, each with its verdict and the
    /// time that took, for `interlap list` and `interlap check`
    #[arg(long, value_name = "DIR", conflicts_with = "trace")]
    pub store: Option<PathBuf>,
    /// Keep one of K rounds in the store, and every one that is not consistent
    #[arg(long, value_name = "K", default_value_t = 1, requires = "store",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
    /// Time to minimize all findings together, on top of --for: fewer calls and, with the
    /// controlled engine, fewer preemptions; a recording of rr with the other engines; 0: do not
    /// minimize
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub shrink: Duration,
    /// Directory of known findings, such as copies of those of earlier runs: each is replayed first
    /// with this build, in half of the time at most, and a regression if it shows again. Default:
    /// the folder `regressions` beside the adapter, if there is one
    #[arg(long, value_name = "DIR")]
    pub regress: Option<PathBuf>,
    /// Write a page of the run for a browser: what was exercised, what was not, how counts grew
    #[arg(long, value_name = "PAGE")]
    pub html: Option<PathBuf>,
    /// Print the whole report of every finding, and what each scheduling policy did. Without it the
    /// first finding is shown, the others come in a few lines
    #[arg(short, long)]
    pub verbose: bool,
    // Options with a heading come last: what follows them would stand under it.
    #[command(flatten)]
    pub control: Control,
    #[command(flatten)]
    pub recorder: Recorder,
    #[command(flatten)]
    pub ci: Ci,
}

/// How an adapter's source is compiled.
#[derive(Args, Debug)]
pub struct Build {
    /// Directory to look for headers in
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Library to link with
    #[arg(short = 'l', long = "link", value_name = "LIB")]
    pub libraries: Vec<String>,
    /// Compiler flag, or a source of the library to compile along; a value that holds several
    /// flags, such as "$(pkg-config --cflags --libs NAME)", is split at spaces as a shell does
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    pub flags: Vec<String>,
}

/// The calls of a round, and the threads that make them.
#[derive(Args, Debug)]
pub struct Workload {
    #[command(flatten)]
    pub model: Model,
    /// Seed of everything random; a new one if not given
    #[arg(long)]
    pub seed: Option<u64>,
    /// What drives the threads; auto: controlled where the target can be compiled with its hooks,
    /// else native
    #[arg(long, value_enum, default_value = "auto")]
    pub engine: EngineChoice,
    /// Most threads that call at once; with --calls, exactly that many
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=THREADS_MAX as i64))]
    pub threads: u32,
    /// Calls of each thread in each round; if not given, short rounds and long batches mixed. The
    /// native engine checks a round of more than 262,144 calls (fewer with bulk calls) while it
    /// runs, in parts of that many, and ends it at the first response that no order explains
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=CALLS_MAX))]
    pub calls: Option<u64>,
    /// Most keys of a set or map
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub keys: u64,
    /// Most values of a bulk call
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=BULK_MAX))]
    pub bulk: u64,
    /// Weight of an operation; 0 leaves it out; other weights are random in each round
    #[arg(long = "weight", value_name = "OP=N", value_parser = weight)]
    pub weights: Vec<(String, u32)>,
    /// Whether threads are new in each round
    #[arg(long, value_enum, default_value = "some")]
    pub fresh_threads: FreshThreads,
    /// Clock for timeboxes
    #[arg(long, value_enum, default_value = "auto")]
    pub clock: Clock,
    /// Let the kernel choose each thread's processor
    #[arg(long)]
    pub no_pin: bool,
    /// Never stall a thread in the middle of a call; for targets that do not tolerate signals
    #[arg(long)]
    pub no_disturb: bool,
    /// Memory limit of the harness process, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(64..))]
    pub memory: u64,
}

/// How the controlled engine schedules.
#[derive(Args, Debug)]
#[command(next_help_heading = "Controlled engine")]
pub struct Control {
    /// Scheduling policy, as in walk:5, pct:3, pos; drawn for each round if not given
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// What carries the threads; thread: slower, for debuggers, with the same schedules
    #[arg(long, value_enum, default_value = "fiber")]
    pub carrier: Carrier,
    /// Whether freed memory is handed out again: at once, never, or some rounds each
    #[arg(long, value_enum, default_value = "some")]
    pub heap: Heap,
    /// Switch threads at plain loads and stores: in some rounds, all (also without a value) or none
    #[arg(
        long,
        value_enum,
        value_name = "ROUNDS",
        num_args = 0..=1,
        require_equals = true,
        default_value = "some",
        default_missing_value = "all"
    )]
    pub plain_points: PlainPoints,
    /// Look for data races: in no round, some, or all (also without a value)
    #[arg(
        long,
        value_enum,
        value_name = "ROUNDS",
        num_args = 0..=1,
        require_equals = true,
        default_value = "some",
        default_missing_value = "all"
    )]
    pub races: Races,
    /// When other threads see an atomic store: at once (sc), when it leaves the store buffer as on
    /// x86 (tso; tso-late: as late as possible), when C++ says that they must (c11), or some rounds
    /// each
    #[arg(long, value_enum, value_name = "MODEL", default_value = "some")]
    pub memory_model: MemoryModel,
    /// Make the atomic accesses of one kind and order at a line with a weaker order, as in
    /// ring.hpp:12:store:release=relaxed (`interlap orders` tries each)
    #[arg(long, value_name = "LINE:KIND:ORDER=WEAKER")]
    pub weaken: Vec<Weakening>,
    /// Steps without a change of memory (or 100 times as many without a response) that count as a
    /// livelock
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..))]
    pub steps: u64,
}

/// How the rr engine records.
#[derive(Args, Debug)]
#[command(next_help_heading = "rr engine")]
pub struct Recorder {
    #[command(flatten)]
    pub rr: Rr,
    /// Limits of rr's time slices, in ticks (conditional branches), used in turn, one for each
    /// recording; 0: rr's own limit. A low limit makes many switches
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "100,1000,10000,0", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    pub rr_ticks: Vec<u64>,
    /// Length of a recording before the next begins; those without a finding are deleted
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub rr_for: Duration,
}

/// The rr to use.
#[derive(Args, Debug)]
pub struct Rr {
    /// The program rr, if it is not the one on the search path
    #[arg(long, value_name = "PATH")]
    pub rr: Option<String>,
    /// Global option for every call of rr
    #[arg(long = "rr-arg", value_name = "ARG", allow_hyphen_values = true)]
    pub rr_args: Vec<String>,
}

/// Time limits and output.
#[derive(Args, Debug)]
pub struct Run {
    /// Time limit: 30s, 10m, 2h. It counts from when the target is loaded; what is under way at the
    /// end has 2 s more, and is not decided if that is not enough
    #[arg(long = "for", value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub duration: Duration,
    /// Time without progress that counts as a hang; with the controlled engine, also a quarter of
    /// it as processor time without an access that the engine sees [default: 10s; 30s under rr]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub hang: Option<Duration>,
    #[command(flatten)]
    pub format: Format,
}

/// Time without progress that counts as a hang, if the user does not say so.
pub const HANG: Duration = Duration::from_secs(10);
/// Under rr one thread runs at a time, and a spinning thread delays the others for seconds.
const HANG_UNDER_RR: Duration = Duration::from_secs(30);

impl Run {
    pub fn hang_with(&self, engine: Engine) -> Duration {
        self.hang.unwrap_or(if engine == Engine::Rr { HANG_UNDER_RR } else { HANG })
    }
}

#[derive(Args, Clone, Copy, Debug)]
pub struct Format {
    /// Print the result as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Merge {
    /// Directories that `interlap fuzz --out` wrote
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Directory for the merged results
    #[arg(long, value_name = "DIR", default_value = "merged")]
    pub out: PathBuf,
    /// Write a page of all runs for a browser, like `fuzz --html`
    #[arg(long, value_name = "PAGE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub format: Format,
    #[command(flatten)]
    pub ci: Ci,
}

/// The file by which a crate may be named, too.
const MANIFEST: &str = "Cargo.toml";

/// What is right, instead of what the target or the file says.
#[derive(Args, Clone, Debug)]
pub struct Model {
    /// Model to check against, instead of the target's or the file's own: a name with options, or
    /// a specification in TLA+ (Queue.tla)
    #[arg(long, value_parser = spec)]
    model: Option<Spec>,
    /// Folder of a crate in Rust whose program has the model to check against, or that program
    /// (docs/models.md); `--model crate:consistency=...` says by which orders
    #[arg(long, value_name = "PATH")]
    model_crate: Option<PathBuf>,
    /// Configuration of the specification, instead of the one beside it (Queue.cfg)
    #[arg(long, value_name = "FILE", requires = "model")]
    cfg: Option<PathBuf>,
    /// Count what judging exercises of the specification, its actions and their branches: print
    /// what was never exercised, and write all as JSON to this file
    #[arg(long, value_name = "FILE", requires = "model")]
    pub coverage: Option<PathBuf>,
}

impl Model {
    /// The model that was named, if one was.
    ///
    /// # Errors
    /// If two were, or there is no such crate.
    pub fn named(&self) -> anyhow::Result<Option<Spec>> {
        let program = self.model.and_then(|model| model.program);
        let in_model = program.filter(|of| !of.is_bundled()).map(|of| PathBuf::from(of.path()));
        let Some(path) = self.model_crate.as_ref().or(in_model.as_ref()) else {
            return self.cfg.as_ref().map_or(Ok(self.model), |cfg| {
                Err(anyhow::anyhow!(
                    "--cfg {} is of a specification: name that, too (--model Queue.tla)",
                    cfg.display()
                ))
            });
        };
        let model = self.model.unwrap_or(Spec::new(Kind::Own));
        if model.kind != Kind::Own {
            anyhow::bail!(
                "--model {model} names a model, and so does --model-crate: leave one out"
            );
        }
        let shown = path.display();
        let option = if self.model_crate.is_some() { "--model-crate" } else { "--model" };
        let path = path.canonicalize().with_context(|| format!("{option} {shown}"))?;
        let is_manifest = path.file_name() == Some(MANIFEST.as_ref());
        let folder = path.parent().filter(|_| is_manifest).unwrap_or(&path);
        let path = folder.to_str().with_context(|| format!("{shown} is no UTF-8"))?;
        let mut settings = self.model.and_then(|of| of.program).map_or("", Program::settings);
        let with;
        if let Some(cfg) = &self.cfg {
            let shown = cfg.display();
            if !Program::at(path).is_specification() {
                anyhow::bail!("--cfg {shown} is of a specification in TLA+: {path} is none");
            }
            let cfg = cfg.canonicalize().with_context(|| format!("--cfg {shown}"))?;
            with = joined(settings, &format!("{CONFIGURATION} {}", cfg.display()));
            settings = &with;
        }
        Ok(Some(Spec { program: Some(Program::with(path, settings)), ..model }))
    }
}

#[derive(Args, Debug)]
pub struct Doctor {
    #[command(flatten)]
    pub rr: Rr,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Args, Debug)]
pub struct New {
    /// Write a method for each action of this specification in TLA+; NAME alone is given then
    #[arg(long, value_name = "FILE", conflicts_with = "c")]
    pub spec: Option<PathBuf>,
    /// Configuration of the specification, instead of the one beside it
    #[arg(long, value_name = "FILE", requires = "spec")]
    pub cfg: Option<PathBuf>,
    /// Kind of structure: queue, stack, deque, set, range-set, map, register, priority-queue,
    /// counter, log, kv, store (transactions), custom (methods of any kind); or model, a crate for
    /// --model-crate
    #[arg(required_unless_present = "spec")]
    pub family: Option<String>,
    /// Name of the target; the file is NAME.cpp, with --c NAME.c; of a model the folder NAME
    #[arg(required_unless_present = "spec")]
    pub name: Option<String>,
    /// Write it in C
    #[arg(long)]
    pub c: bool,
    /// Directory to write it in
    #[arg(long, default_value = ".")]
    pub dir: PathBuf,
}

fn spec(text: &str) -> Result<Spec, String> {
    text.parse()
}

fn weight(text: &str) -> Result<(String, u32), String> {
    let parsed = text.split_once('=').and_then(|(op, n)| Some((op.to_string(), n.parse().ok()?)));
    parsed.ok_or_else(|| "expected OPERATION=WEIGHT, as in enqueue=3".to_string())
}

/// `90`, `90s`, `1500ms`, `10m`, `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let milliseconds = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("expected a time such as 30s, 10m or 2h".to_string()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a time such as 30s, 10m or 2h")?;
    let milliseconds = number.checked_mul(milliseconds).ok_or("too long")?;
    Ok(Duration::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    /// A heading holds for all options after it, also those of another struct: it leaks there.
    #[test]
    fn an_option_stands_under_the_heading_of_its_own_declaration_or_under_none() {
        let empty = || clap::Command::new("");
        let groups = [
            Control::augment_args(empty()),
            Recorder::augment_args(empty()),
            Ci::augment_args(empty()),
            Stop::augment_args(empty()),
        ];
        let declares = |heading: &str, option: &clap::Arg| {
            let own = groups.iter().flat_map(clap::Command::get_arguments);
            own.into_iter().any(|arg| {
                arg.get_help_heading() == Some(heading) && arg.get_id() == option.get_id()
            })
        };
        for command in Cli::command().get_subcommands() {
            for option in command.get_arguments() {
                if let Some(heading) = option.get_help_heading() {
                    let (command, name) = (command.get_name(), option.get_id());
                    assert!(declares(heading, option), "{command} --{name}: {heading}");
                }
            }
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("1500ms"), Ok(Duration::from_millis(1500)));
        assert!(duration("m").is_err() && duration("3 days").is_err());
    }
}
