//! What each scheduling policy is good for: how many schedules, and how long, until each of the
//! broken twins is first caught, over several start seeds; and the same for native threads.
//! `cargo bench --bench policies [seeds] [twin...]` prints the tables of docs/policies.md. A cell
//! is done with at 20,000 schedules (native: at 5 seconds), and not tried any more when its first
//! five seeds got so far.

use std::path::{Path, PathBuf};
use std::time::Duration;

use interlap::adapter::cache::Cache;
use interlap::adapter::compile::{Flavour, Request, Toolchain};
use interlap::adapter::sources::Sources;
use interlap::core::plan::{Engine, Plan, Shard, WARM_UP_ROUNDS};
use interlap::core::time_limit::TimeLimit;
use interlap::finding::Stored;
use interlap::finding::trust::Trusted;
use interlap::fuzz::{self, Ending, Observer, Options, Statistics, Warning};
use interlap::model::Spec;
use interlap::trace::frame::Hello;

const SEEDS: usize = 20;
/// Of a cell whose first seeds all found nothing, the others are left out.
const SEEDS_TRIED: usize = 5;
const SCHEDULES_MAX: u64 = 20_000;
const NATIVE_MAX: Duration = Duration::from_secs(5);

/// The columns: each family, with a low and a high parameter where that matters; all of them in
/// turns, as in a run; native threads.
const COLUMNS: [&str; 11] = [
    "walk:1", "walk:5", "walk:20", "pct:3", "pct:10", "pos", "surw", "delay:2", "stall", ALL,
    NATIVE,
];
const ALL: &str = "all";
const NATIVE: &str = "native";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let seeds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(SEEDS);
    let bench = Bench::new();
    let mut twins = bench.twins();
    let named: Vec<&String> = words.iter().filter(|word| word.parse::<u64>().is_err()).collect();
    twins.retain(|twin| named.is_empty() || named.iter().any(|name| **name == *twin));
    let rows: Vec<Row> = twins.iter().map(|twin| bench.row(twin, seeds)).collect();
    print_table("Schedules to the first finding", &rows, |it| it.schedules as f64, 0);
    print_table("Seconds to the first finding", &rows, |it| it.seconds, 2);
}

/// What one seed came to: until the finding, or until it was given up.
#[derive(Clone, Copy)]
struct Try {
    schedules: u64,
    seconds: f64,
    found: bool,
}

struct Row {
    twin: String,
    /// The tries of each column.
    cells: Vec<Vec<Try>>,
}

/// The median and the worst; a try that found nothing is worse than all others.
fn median_and_worst(tries: &[Try], figure: fn(&Try) -> f64, digits: usize) -> String {
    let mut sorted: Vec<(bool, f64)> = tries.iter().map(|it| (!it.found, figure(it))).collect();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    let text = |at: usize| {
        let (nothing, figure) = sorted[at];
        format!("{}{figure:.digits$}", if nothing { ">" } else { "" })
    };
    let (median, worst) = (text((sorted.len() - 1) / 2), text(sorted.len() - 1));
    if median == worst { median } else { format!("{median} / {worst}") }
}

/// Prints a table in Markdown.
fn print_table(title: &str, rows: &[Row], figure: fn(&Try) -> f64, digits: usize) {
    println!("\n{title}, median / worst\n");
    println!("| | {} |", COLUMNS.join(" | "));
    println!("|---|{}", "---|".repeat(COLUMNS.len()));
    for row in rows {
        let cells = row.cells.iter().map(|tries| median_and_worst(tries, figure, digits));
        println!("| {} | {} |", row.twin, cells.collect::<Vec<_>>().join(" | "));
    }
}

struct Bench {
    toolchain: Toolchain,
    twins: PathBuf,
    scratch: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        let toolchain = Toolchain::new(Cache::for_user().expect("a cache"), Sources::EMBEDDED);
        Bench {
            toolchain: toolchain.expect("a compiler"),
            twins: Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/broken"),
            scratch: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// The names of the broken twins.
    fn twins(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.twins).expect("the checkout");
        let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_string());
        let mut names: Vec<_> = files.filter_map(|file| stem(file.ok()?.path())).collect();
        names.sort();
        names
    }

    fn row(&self, twin: &str, seeds: usize) -> Row {
        let cells = COLUMNS.iter().map(|column| {
            let mut tries = Vec::new();
            let library = self.library(twin, *column == NATIVE);
            while tries.len() < seeds && !is_hopeless(&tries) {
                tries.push(self.attempt(twin, &library, column, 1 + tries.len() as u64));
            }
            eprint!(".");
            tries
        });
        let row = Row { twin: twin.to_string(), cells: cells.collect() };
        eprintln!(" {twin}");
        row
    }

    fn library(&self, twin: &str, native: bool) -> PathBuf {
        let request = Request {
            source: self.twins.join(format!("{twin}.cpp")),
            flavour: if native { Flavour::Plain } else { Flavour::Hooked },
            ..Request::default()
        };
        self.toolchain.compile(&request).expect("it compiles").library
    }

    fn attempt(&self, twin: &str, library: &Path, column: &str, seed: u64) -> Try {
        let native = column == NATIVE;
        let mut plan = Plan::new(twin, seed);
        plan.engine = if native { Engine::Native } else { Engine::Controlled };
        plan.control.policy = (!native && column != ALL).then(|| column.to_string());
        let options = Options {
            trusted: Trusted::by_user(),
            key: None,
            plan,
            jobs: 1,
            shard: Shard::ALL,
            library: library.to_path_buf(),
            harness: PathBuf::from(env!("CARGO_BIN_EXE_interlap-harness")),
            sources: Default::default(),
            regressions: Default::default(),
            time: if native { TimeLimit::of(NATIVE_MAX) } else { TimeLimit::none() },
            rounds_max: (!native).then_some(WARM_UP_ROUNDS + SCHEDULES_MAX),
            findings_max: 1,
            known: Default::default(),
            hang_max: Duration::from_secs(10),
            directory: self.scratch.path().join("findings"),
            keep: None,
            stop: Default::default(),
            wanted: None,
            leave_after: None,
            can_be_controlled: false,
        };
        let summary = fuzz::fuzz(&options, &mut Quiet).expect("it runs");
        assert!(summary.ending != Ending::NotSequential, "{twin} is broken by threads alone");
        let (rounds, seconds, found) = match summary.findings.first() {
            Some(stored) => (stored.finding.round + 1, stored.finding.after_seconds, true),
            None => (summary.statistics.rounds, summary.statistics.elapsed.as_secs_f64(), false),
        };
        Try { schedules: rounds, seconds, found }
    }
}

/// Whether so many seeds found nothing that the others are left out.
fn is_hopeless(tries: &[Try]) -> bool {
    tries.len() >= SEEDS_TRIED && tries.iter().all(|it| !it.found)
}

struct Quiet;

impl Observer for Quiet {
    fn started(&mut self, _: &Hello, _: &Spec) {}
    fn progressed(&mut self, _: &Statistics) {}
    fn save(&mut self, _: &Stored, _: &Options) -> anyhow::Result<()> {
        Ok(())
    }
    fn found(&mut self, _: &Stored) {}
    fn warned(&mut self, _: &Warning) {}
}
