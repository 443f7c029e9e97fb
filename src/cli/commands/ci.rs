//! Reads known issues and writes JUnit and SARIF reports, for several commands.
//! A report that cannot be written is an error before the command starts its work.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::adapters::Adapters;
use super::page::touch;
use crate::cli::arguments;
use crate::core::files;
use crate::finding::known::KnownIssues;
use crate::finding::{Finding, Stored};
use crate::report::output::{Output, warning};
use crate::report::results::{Ended, Results, Run};
use crate::report::{junit, sarif, words};

pub struct Reports {
    junit: Option<PathBuf>,
    sarif: Option<PathBuf>,
}

/// The known issues of `--known`; none without it.
pub fn known(args: &arguments::Ci) -> Result<KnownIssues> {
    args.known.as_deref().map_or_else(|| Ok(KnownIssues::default()), KnownIssues::load)
}

impl Reports {
    /// # Errors
    /// If one cannot be written, or two would go to the same place. `json`: standard output is used
    /// for JSON.
    pub fn open(args: &arguments::Ci, json: bool) -> Result<Reports> {
        let reports = Reports { junit: args.junit.clone(), sarif: args.sarif.clone() };
        let paths: Vec<&PathBuf> = reports.junit.iter().chain(&reports.sarif).collect();
        if paths.len() == 2 && paths[0] == paths[1] {
            bail!("--junit and --sarif cannot both go to {}", paths[0].display());
        }
        if json && reports.take_stdout() {
            bail!("--json goes to standard output, too; give --junit or --sarif a file");
        }
        for path in paths.into_iter().filter(|path| !is_stdout(path)) {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)
                    .with_context(|| format!("cannot create {}", parent.display()))?;
            }
            touch(path)?;
        }
        Ok(reports)
    }

    /// Whether one of them goes to standard output, and nothing else does.
    pub fn take_stdout(&self) -> bool {
        self.junit.iter().chain(&self.sarif).any(|path| is_stdout(path))
    }

    pub fn write(&self, runs: Vec<Run>, findings: Vec<&Stored>, out: &mut Output) -> Result<()> {
        if self.junit.is_none() && self.sarif.is_none() {
            return Ok(());
        }
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        let here = here.context("cannot find the current directory")?;
        let results = Results { runs, findings, adapter: &adapter, root: root_of(&here) };
        if let Some(path) = &self.junit {
            put(path, &junit::render(&results)?, out)?;
        }
        if let Some(path) = &self.sarif {
            put(path, &serde_json::to_string_pretty(&sarif::render(&results))?, out)?;
        }
        Ok(())
    }

    /// Reports of a run that failed, so that those of an earlier run are not mistaken for its own.
    pub fn write_failed(
        &self,
        command: &str,
        target: &str,
        error: &anyhow::Error,
        out: &mut Output,
    ) {
        let path = Path::new(target);
        let target = path.file_stem().unwrap_or_default().to_string_lossy();
        let run = Run {
            target: target.into_owned(),
            name: "run".to_string(),
            command: format!("{command} {}", path.display()),
            seconds: 0.0,
            ended: Ended::Failed(words::error(error)),
            text: String::new(),
        };
        if let Err(error) = self.write(vec![run], Vec::new(), out) {
            warning!("{}", words::error(&error));
        }
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn put(path: &Path, text: &str, out: &mut Output) -> Result<()> {
    if is_stdout(path) {
        writeln!(out, "{text}");
        return Ok(());
    }
    // It was there when the run began.
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| files::put(path, text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// The repository that contains the directory, or else the directory.
fn root_of(directory: &Path) -> &Path {
    directory.ancestors().find(|above| above.join(".git").exists()).unwrap_or(directory)
}

/// The source of a finding's adapter.
fn adapter(finding: &Finding) -> PathBuf {
    let name = Path::new(&finding.plan.build.adapter);
    if name.is_absolute() {
        return name.to_path_buf();
    }
    let adapters = Adapters::open();
    let mut bundled = adapters.iter().flat_map(|adapters| adapters.catalog().bundled());
    let named = bundled.find(|adapter| Path::new(&adapter.name) == name);
    named.map_or_else(|| name.with_extension("cpp"), |adapter| adapter.source)
}
