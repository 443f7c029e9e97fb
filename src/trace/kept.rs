//! Rounds that a run keeps: a trace, and in a store a line for each round that says what was made
//! of it and how long that took.
//!
//! A store is a directory with one of these for each run. The trace's first frame has the whole
//! configuration.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::frame::{Hello, RoundStart};
use super::rounds::{Part, Round, Writer};
use crate::check::Verdict;
use crate::core::files;

/// The files of a run in a store.
const TRACE: &str = "trace.mpk";
const JUDGED: &str = "rounds.jsonl";

/// What a run keeps of its rounds, and where.
#[derive(Clone, Debug)]
pub struct Keep {
    path: PathBuf,
    /// The path is that of a store.
    is_store: bool,
    /// One of so many rounds is kept, and what is not consistent.
    every: u64,
}

/// What was made of a round that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedRound {
    pub round: u64,
    pub threads: u32,
    pub operations: usize,
    pub verdict: Made,
    /// The rule that it breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What the check took; none if it was made while the round ran, or a fault ended that.
    pub seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
    Consistent,
    Violation,
    Undecided,
    /// It ended with a fault.
    Fault,
}

impl Made {
    pub fn of(verdict: &Verdict) -> Made {
        match verdict {
            Verdict::Consistent => Made::Consistent,
            Verdict::Violation(_) => Made::Violation,
            Verdict::Inconclusive(_) => Made::Undecided,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Made::Consistent => "consistent",
            Made::Violation => "violation",
            Made::Undecided => "undecided",
            Made::Fault => "fault",
        }
    }
}

impl JudgedRound {
    pub fn new(start: &RoundStart, operations: usize, verdict: &Verdict) -> Self {
        let rule = match verdict {
            Verdict::Violation(witness) => Some(witness.rule.to_string()),
            _ => None,
        };
        let (round, threads, verdict) = (start.round, start.threads, Made::of(verdict));
        JudgedRound { round, threads, operations, verdict, rule, seconds: None }
    }

    /// One whose check began then.
    pub fn since(self, began: Instant) -> Self {
        JudgedRound { seconds: Some(began.elapsed().as_secs_f64()), ..self }
    }

    /// One that a fault ended.
    pub fn fault(round: &Round) -> Self {
        let judged = JudgedRound::new(&round.start, round.history.len(), &Verdict::Consistent);
        JudgedRound { verdict: Made::Fault, ..judged }
    }
}

impl Keep {
    /// All rounds, in this file.
    pub fn trace(path: &Path) -> Keep {
        Keep { path: path.to_path_buf(), is_store: false, every: 1 }
    }

    /// One of `every` rounds, in a directory of its own in this one.
    pub fn store(path: &Path, every: u64) -> Keep {
        Keep { path: path.to_path_buf(), is_store: true, every }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_store(&self) -> bool {
        self.is_store
    }

    /// Whether a round is kept whatever is made of it.
    pub fn keeps(&self, round: u64) -> bool {
        round.is_multiple_of(self.every)
    }
}

/// The rounds of a run that are kept, while it goes on.
pub struct Kept {
    trace: Writer,
    judged: Option<BufWriter<File>>,
}

impl Kept {
    /// # Errors
    /// If the files cannot be made.
    pub fn create(keep: &Keep, hello: &Hello) -> io::Result<Kept> {
        if !keep.is_store {
            return Ok(Kept { trace: Writer::create(&keep.path, hello)?, judged: None });
        }
        let folder = new_folder(&keep.path, &hello.plan.build.adapter)?;
        let trace = Writer::create(&folder.join(TRACE), hello)?;
        let judged = BufWriter::new(File::create(folder.join(JUDGED))?);
        Ok(Kept { trace, judged: Some(judged) })
    }

    pub fn add(&mut self, round: &Round) -> io::Result<()> {
        self.trace.add(round)
    }

    pub fn add_part(&mut self, part: &Part) -> io::Result<()> {
        self.trace.add_part(part)
    }

    pub fn judged(&mut self, round: &JudgedRound) -> io::Result<()> {
        let Some(file) = &mut self.judged else { return Ok(()) };
        serde_json::to_writer(&mut *file, round)?;
        file.write_all(b"\n")
    }

    pub fn finish(self) -> io::Result<()> {
        self.trace.finish()?;
        self.judged.map_or(Ok(()), |mut file| file.flush())
    }
}

/// A directory for the next run of an adapter: `ms_queue-1`, `ms_queue-2`.
fn new_folder(store: &Path, adapter: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(store)?;
    let stem = Path::new(adapter).file_stem().unwrap_or_default().to_string_lossy();
    for number in 1_u64.. {
        let folder = store.join(format!("{stem}-{number}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
    unreachable!("some number is free")
}

/// A run in a store.
pub struct StoredRun {
    /// The directory's name.
    pub name: String,
    pub trace: PathBuf,
    pub judged: Vec<JudgedRound>,
}

/// The runs in a store, by their names; none if the directory is no store.
///
/// # Errors
/// If it cannot be read. A last line that was not written whole is left out.
pub fn runs(store: &Path) -> io::Result<Vec<StoredRun>> {
    let mut runs = Vec::new();
    if !store.is_dir() {
        return Ok(runs);
    }
    for entry in fs::read_dir(store)? {
        let folder = entry?.path();
        let (trace, judged) = (folder.join(TRACE), folder.join(JUDGED));
        if !trace.is_file() || !judged.is_file() {
            continue;
        }
        let text = String::from_utf8_lossy(&files::read(&judged)?).into_owned();
        let lines = text.lines().map_while(|line| serde_json::from_str(line).ok());
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        runs.push(StoredRun { name, trace, judged: lines.collect() });
    }
    let number = |run: &StoredRun| {
        let (stem, number) = run.name.rsplit_once('-').unwrap_or((&run.name, "0"));
        (stem.to_string(), number.parse().unwrap_or(u64::MAX))
    };
    runs.sort_by_key(number);
    Ok(runs)
}
