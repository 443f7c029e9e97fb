//! The ledger of a run: its statistics and the names of its findings, stored as `run.json`.
//! Ledgers of several runs can be merged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::core::files;
use crate::core::machine::Machine;
use crate::core::plan::{Plan, Shard};
use crate::fuzz::{Ending, Point, Statistics, Summary};
use crate::trace::frame::{ClockInfo, TargetInfo};

const LEDGER_VERSION: u32 = 2;
/// The name of its file, in the directory of the findings.
pub const LEDGER_FILE: &str = "run.json";

/// What is stored as `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    pub version: u32,
    /// The adapter, its library and the library's version.
    pub target: String,
    pub library: String,
    pub model: String,
    /// The runs: one, or all that were merged.
    pub parts: Vec<Part>,
    pub statistics: Statistics,
    /// Hashes of the pairs of places that `statistics` counts, in order.
    pub pairs: Vec<u64>,
    /// Directories of the findings.
    #[serde(deserialize_with = "files::names")]
    pub findings: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub plan: Plan,
    pub shard: Shard,
    pub jobs: u64,
    /// None for runs of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circumstances: Option<Circumstances>,
    /// The growth of its counts over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<Point>,
}

/// When and where a run was done, and with which versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Circumstances {
    /// interlap's version.
    pub interlap: String,
    pub machine: Machine,
    /// The compiler's path and version.
    pub compiler: String,
    /// All flags of the adapter and of the command line.
    pub flags: Vec<String>,
    /// Packages of the headers, each with its version.
    #[serde(default)]
    pub packages: Vec<String>,
    pub target: TargetInfo,
    pub clock: ClockInfo,
    /// Its start, in seconds since 1970.
    pub began: u64,
    pub seconds: f64,
    pub rounds: u64,
    pub ended: Ending,
}

impl Ledger {
    pub fn new(summary: &Summary, plan: &Plan, shard: Shard, jobs: u64) -> Ledger {
        let info = &summary.hello.target;
        let name = |stored: &crate::finding::Stored| stored.finding.name.clone();
        Ledger {
            version: LEDGER_VERSION,
            target: plan.target_name().to_string(),
            library: format!("{} {}", info.library, info.version).trim().to_string(),
            model: summary.model.to_string(),
            parts: vec![Part {
                plan: plan.clone(),
                shard,
                jobs,
                circumstances: None,
                curve: summary.curve.clone(),
            }],
            statistics: summary.statistics.clone(),
            pairs: summary.pairs.clone(),
            findings: summary.findings.iter().map(name).collect(),
        }
    }

    pub fn load(directory: &Path) -> Result<Ledger> {
        let path = directory.join(LEDGER_FILE);
        let bytes = files::read(&path).with_context(|| {
            let path = path.display();
            format!("cannot read {path}; name a directory that `interlap fuzz --out` wrote")
        })?;
        let ledger: Ledger = serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged", path.display()))?;
        if !are_counts(&serde_json::to_value(&ledger.statistics)?) {
            bail!("{} is damaged: it has a count above {}", path.display(), files::COUNT_MAX);
        }
        Ok(ledger)
    }

    pub fn save(&self, directory: &Path) -> Result<()> {
        let path = directory.join(LEDGER_FILE);
        fs::create_dir_all(directory)
            .and_then(|()| files::replace(&path, &serde_json::to_vec_pretty(self)?))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Adds another run of the same target. Returns a warning for each pair of runs that did the
    /// same rounds.
    pub fn join(&mut self, other: Ledger) -> Result<Vec<String>> {
        let subject = |ledger: &Ledger| {
            let Ledger { target, library, model, .. } = ledger;
            format!("{target} ({library}) checked against model {model}")
        };
        if subject(self) != subject(&other) {
            bail!("runs of different targets: {} and {}", subject(self), subject(&other));
        }
        let mut warnings = Vec::new();
        for two in &other.parts {
            let same = self.parts.iter().find(|one| one.overlaps(two));
            warnings.extend(same.map(|one| {
                format!(
                    "shards {} and {} of seed {} have rounds in common, which count twice",
                    one.shard, two.shard, two.plan.seed
                )
            }));
        }
        self.parts.extend(other.parts);
        self.statistics.join(other.statistics);
        self.pairs.extend(other.pairs);
        self.pairs.sort_unstable();
        self.pairs.dedup();
        if let Some(coverage) = &mut self.statistics.coverage {
            coverage.pairs.total = self.pairs.len() as u64;
        }
        let names: BTreeSet<String> = self.findings.drain(..).chain(other.findings).collect();
        self.findings = names.into_iter().collect();
        self.statistics.findings = self.findings.len();
        Ok(warnings)
    }
}

/// Whether no number in statistics is too large for a count, but for arguments and timestamps.
fn are_counts(statistics: &Value) -> bool {
    let is_other = |name: &str| matches!(name, "from" | "to" | "read_at");
    match statistics {
        Value::Number(number) => number.as_f64().is_some_and(|n| n <= files::COUNT_MAX as f64),
        Value::Array(items) => items.iter().all(are_counts),
        Value::Object(fields) => {
            fields.iter().all(|(name, field)| is_other(name) || are_counts(field))
        }
        _ => true,
    }
}

impl Part {
    /// Whether the runs have a round in common. The rounds of a shard equal its number modulo the
    /// count of shards. Two such conditions have a common solution exactly if they agree modulo the
    /// greatest common divisor of the counts.
    fn overlaps(&self, other: &Part) -> bool {
        let common = gcd(self.shard.count, other.shard.count);
        self.plan == other.plan && self.shard.index % common == other.shard.index % common
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(target: &str, seed: u64, shard: &str, pairs: &[u64]) -> Ledger {
        let coverage = crate::fuzz::Coverage { rounds: 5, ..Default::default() };
        let statistics = Statistics { rounds: 5, coverage: Some(coverage), ..Default::default() };
        Ledger {
            version: LEDGER_VERSION,
            target: target.to_string(),
            library: String::new(),
            model: "fifo".to_string(),
            parts: vec![Part {
                plan: Plan::new(target, seed),
                shard: shard.parse().expect("a shard"),
                jobs: 1,
                circumstances: None,
                curve: Vec::new(),
            }],
            statistics,
            pairs: pairs.to_vec(),
            findings: vec!["x-1".to_string(), format!("x-{seed}")],
        }
    }

    #[test]
    fn runs_are_added_up() {
        let mut one = ledger("x", 1, "0/2", &[1, 3]);
        assert!(one.join(ledger("x", 1, "1/2", &[2, 3])).expect("one target").is_empty());
        assert!(one.join(ledger("x", 2, "0/1", &[])).expect("one target").is_empty());
        assert_eq!((one.statistics.rounds, &one.pairs[..]), (15, &[1, 2, 3][..]));
        assert_eq!(one.statistics.coverage.as_ref().map(|c| c.pairs.total), Some(3));
        assert_eq!(one.findings, ["x-1", "x-2"]);
        let directory = tempfile::tempdir().expect("temp dir");
        one.save(directory.path()).expect("room");
        assert_eq!(Ledger::load(directory.path()).expect("as it was"), one);
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        let directory = tempfile::tempdir().expect("temp dir");
        for name in ["../x-1", "/x-1", "a/b", "..", ""] {
            let stray = Ledger { findings: vec![name.to_string()], ..ledger("x", 1, "0/1", &[]) };
            stray.save(directory.path()).expect("room");
            assert!(Ledger::load(directory.path()).is_err(), "{name:?}");
        }
    }

    #[test]
    fn numbers_that_no_run_has_are_refused() {
        let directory = tempfile::tempdir().expect("temp dir");
        let is_read = |change: fn(&mut Ledger)| {
            let mut run = ledger("x", 1, "0/1", &[]);
            change(&mut run);
            run.save(directory.path()).expect("room");
            Ledger::load(directory.path()).is_ok()
        };
        assert!(is_read(|run| run.statistics.rounds = files::COUNT_MAX));
        assert!(!is_read(|run| run.statistics.rounds = files::COUNT_MAX + 1));
        assert!(!is_read(|run| run.parts[0].shard.count = 0));
    }

    #[test]
    fn joining_warns_of_common_rounds_and_refuses_other_targets() {
        let overlap = |one: &str, two: &str| {
            let joined = ledger("x", 1, one, &[]).join(ledger("x", 1, two, &[]));
            joined.expect("one target").len() == 1
        };
        assert!(overlap("1/4", "1/4") && overlap("0/2", "2/4") && overlap("1/2", "1/3"));
        assert!(!overlap("0/2", "1/4") && !overlap("1/4", "3/4"));
        assert!(ledger("x", 1, "0/2", &[]).join(ledger("y", 1, "1/2", &[])).is_err());
    }
}
