//! The directory of a finding: its files, and how they are written and read.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use super::cross_engine::SMALLER;
use super::interleaving::Interleaving;
use super::trust::LocalOrigin;
use super::{FINDING_VERSION, Finding};
use crate::core::files;
use crate::core::history::{History, OperationId};
use crate::trace::area::THREADS_MAX;
use crate::trace::frame::Hello;
use crate::trace::rounds::{self, Round};

/// Marks a directory as a finding.
pub const JSON_FILE: &str = "finding.json";
const TRACE_FILE: &str = "trace.mpk";
const OUTPUT_FILE: &str = "output.txt";
const INTERLEAVING_FILE: &str = "interleaving.json";
const RECORDING: &str = "recording";
/// Commands for gdb.
pub const SCRIPT_FILE: &str = "debug.gdb";
/// The trace as it was found, of a finding that was shrunk.
pub const ORIGINAL_FILE: &str = "original.mpk";
/// The report in words, as it was printed.
pub const REPORT_FILE: &str = "report.txt";
/// The same as a page for a browser.
pub const PAGE_FILE: &str = "page.html";

/// What `finding.json` has in every version.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// A finding with its directory and the recorded round.
#[derive(Clone)]
pub struct Stored {
    pub finding: Finding,
    pub hello: Box<Hello>,
    pub round: Round,
    /// The end of what the target printed.
    pub output: String,
    pub directory: PathBuf,
    /// What its threads did, if `explain` found out.
    pub interleaving: Option<Interleaving>,
    /// Whether it was made here, and so may be run: see [`super::trust`].
    pub made: Option<LocalOrigin>,
}

impl Stored {
    /// Whether its directory is there.
    pub fn is_written(&self) -> bool {
        self.directory.join(JSON_FILE).is_file()
    }

    /// The directory of its recording by rr.
    pub fn recording(&self) -> PathBuf {
        self.directory.join(RECORDING)
    }

    /// The directory of the smaller finding that another engine showed.
    pub fn smaller(&self) -> PathBuf {
        self.directory.join(SMALLER)
    }

    /// Keeps the trace as it was found, before the shrunk finding is saved over it.
    pub fn keep_original(&self) -> Result<()> {
        if self.finding.shrunk.is_some() {
            return Ok(());
        }
        let path = self.directory.join(ORIGINAL_FILE);
        // Somebody may have removed it during the run.
        fs::create_dir_all(&self.directory)
            .and_then(|()| rounds::write(&path, &self.hello, &self.round))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes the finding's directory, over an earlier sighting of the same one.
    pub fn save(&self) -> Result<()> {
        let dir = &self.directory;
        fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.join(name);
            files::replace(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
        };
        rounds::write(&dir.join(TRACE_FILE), &self.hello, &self.round)
            .with_context(|| format!("cannot write the trace in {}", dir.display()))?;
        write(OUTPUT_FILE, self.output.as_bytes())?;
        match &self.interleaving {
            Some(table) => write(INTERLEAVING_FILE, &serde_json::to_vec(table)?)?,
            // An earlier sighting's table shows another round.
            None => drop(fs::remove_file(dir.join(INTERLEAVING_FILE))),
        }
        if self.finding.cross_engine.as_ref().is_none_or(|engines| engines.smaller.is_none()) {
            drop(fs::remove_dir_all(self.smaller()));
        }
        let here =
            fs::canonicalize(dir).with_context(|| format!("cannot find {}", dir.display()))?;
        let sources = self.finding.sources.relative_to(&here);
        let json = serde_json::to_vec_pretty(&Finding { sources, ..self.finding.clone() })?;
        write(JSON_FILE, &json)?;
        self.mark(&json).with_context(|| format!("cannot write the mark in {}", dir.display()))
    }

    /// Reads a finding's directory.
    pub fn load(directory: &Path) -> Result<Stored> {
        let path = directory.join(JSON_FILE);
        let bytes = files::read(&path).with_context(|| {
            let path = path.display();
            format!("cannot read {path}; name a directory that `interlap fuzz` wrote")
        })?;
        let damaged = || format!("{} is damaged", path.display());
        let Version { version } = serde_json::from_slice(&bytes).with_context(damaged)?;
        if version != FINDING_VERSION {
            let path = path.display();
            bail!("{path} is of version {version}; this program reads version {FINDING_VERSION}");
        }
        let mut finding: Finding = serde_json::from_slice(&bytes).with_context(damaged)?;
        if let Ok(here) = fs::canonicalize(directory) {
            finding.sources = finding.sources.read_in(&here);
        }
        if finding.sightings.max(finding.round) > files::COUNT_MAX {
            bail!("{} is damaged: no run has that many rounds or sightings", path.display());
        }
        let path = directory.join(TRACE_FILE);
        let trace = rounds::read(&path).with_context(|| format!("in {}", path.display()))?;
        let cut = trace.truncated.unwrap_or_else(|| "it holds no round".to_string());
        let round = trace.rounds.into_iter().next();
        let round = round.with_context(|| format!("{}: {cut}", path.display()))?;
        // As it was read: a file may have an operation in other forms, such as a list.
        let is_known = names_known_operations(&serde_json::to_value(&finding)?, &round.history);
        if !is_known || round.start.threads > THREADS_MAX as u32 {
            bail!(
                "{} is not the recording of {JSON_FILE} beside it, which names other calls or \
                 threads; copy the whole directory again",
                path.display()
            );
        }
        let output = fs::read_to_string(directory.join(OUTPUT_FILE)).unwrap_or_default();
        let interleaving = files::read(&directory.join(INTERLEAVING_FILE)).ok();
        let interleaving = interleaving.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let (hello, made) = (trace.hello, LocalOrigin::from_mark(directory, &bytes));
        // Without a slash at its end, because reports append names to it.
        let directory = directory.components().collect();
        Ok(Stored { finding, hello, round, output, directory, interleaving, made })
    }
}

/// Whether the history has every operation that a finding names, each as an object of a thread and
/// an index alone.
fn names_known_operations(file: &Value, history: &History) -> bool {
    match file {
        Value::Array(items) => items.iter().all(|item| names_known_operations(item, history)),
        Value::Object(fields) => {
            let is_id = fields.len() == 2;
            let id = is_id.then(|| OperationId::deserialize(file).ok()).flatten();
            id.is_none_or(|id| history.has(id))
                && fields.values().all(|field| names_known_operations(field, history))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_of_another_version_is_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join(JSON_FILE), r#"{"version": 1}"#).expect("room");
        let error = Stored::load(directory.path()).map(|_| ()).expect_err("of an older version");
        let says = format!("is of version 1; this program reads version {FINDING_VERSION}");
        assert!(error.to_string().ends_with(&says), "{error}");
    }
}
