//! `interlap triage`: findings on disk come in, each bug once goes out, with the known ones named.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::ci::Reports;
use super::print_json;
use crate::campaign::ledger::Ledger;
use crate::campaign::triage;
use crate::campaign::triage::{Gathered, Group};
use crate::cli::arguments;
use crate::core::outcome::Outcome;
use crate::finding::known;
use crate::finding::known::{IssueCount, KnownIssues};
use crate::finding::locations;
use crate::finding::{KnownAs, Size, Stored};
use crate::report::output::{Output, warning};
use crate::report::progress::summary_line;
use crate::report::results::{self, Ended, Run};
use crate::report::triage as told;
use crate::report::words;

pub fn run(args: &arguments::Triage, out: &mut Output) -> Result<Outcome> {
    if let Some(name) = &args.add {
        return add(args, name, out);
    }
    let reports = Reports::open(&args.ci, args.format.json)?;
    let known = args.ci.known.as_deref().map(KnownIssues::load).transpose()?;
    let gathered = triage::gather(&args.directories, known.as_ref())?;
    let known = known.unwrap_or_default();
    let findings: Vec<&Stored> = gathered.groups.iter().map(|group| &group.best).collect();
    if args.format.json {
        print_json(out, &Json::of(&gathered, &known))?;
    } else if !reports.take_stdout() {
        print(&gathered, &known, out);
    }
    gathered.damaged.iter().for_each(|error| warning!("{error:#}"));
    reports.write(
        gathered.ledgers.iter().map(|(at, ledger)| of(at, ledger)).collect(),
        findings,
        out,
    )?;
    if !gathered.damaged.is_empty() {
        bail!("{} could not be read, see above; the others are told", gathered.damaged.len());
    }
    Ok(outcome(&gathered))
}

/// Found, if something is new.
fn outcome(gathered: &Gathered) -> Outcome {
    match gathered.groups.iter().all(|group| group.best.finding.known.is_some()) {
        true => Outcome::NothingFound,
        false => Outcome::Found,
    }
}

fn print(gathered: &Gathered, known: &KnownIssues, out: &mut Output) {
    let (groups, runs) = (&gathered.groups, gathered.ledgers.len());
    if groups.is_empty() {
        writeln!(out, "Nothing was found.");
    } else {
        write!(out, "{}", told::table(groups, &gathered.bugs));
    }
    let new = groups.iter().filter(|group| group.best.finding.known.is_none()).count();
    let s = if runs == 1 { "" } else { "s" };
    writeln!(out, "\n{} distinct, {new} new, of {runs} run{s}.{}", groups.len(), bugs(gathered));
    seen(gathered).iter().for_each(|known| writeln!(out, "{}", told::issue_line(known)));
    for at in &gathered.stale {
        let entry = &known.entries[*at];
        let (path, line, name) = (known.path.display(), entry.line, &entry.name);
        writeln!(
            out,
            "{path}:{line}: {name:?} fits nothing here; is it fixed, or are runs missing?"
        );
    }
    if let Some(group) = groups.iter().find(|group| group.best.finding.known.is_none()) {
        let directory = group.best.directory.display();
        writeln!(out, "Next: interlap show {directory}");
    }
}

/// How many bugs they most likely are, where these are fewer.
fn bugs(gathered: &Gathered) -> String {
    match gathered.bugs.len() {
        all if all == gathered.groups.len() => String::new(),
        1 => " They are most likely 1 bug.".to_string(),
        bugs => format!(" They are most likely {bugs} bugs."),
    }
}

fn seen(gathered: &Gathered) -> Vec<IssueCount> {
    known::count_issues(gathered.groups.iter().map(|group| &group.best.finding))
}

/// A run in the reports.
pub fn of(directory: &Path, ledger: &Ledger) -> Run {
    let statistics = &ledger.statistics;
    let undecided: u64 = statistics.inconclusive.values().sum();
    let ended = match undecided > 0 && undecided == statistics.rounds {
        true => Ended::NotDecided(results::undecided(&statistics.inconclusive)),
        false => Ended::Well,
    };
    let first = ledger.parts.first();
    let name =
        first.map_or(ledger.model.clone(), |part| results::run_name(&ledger.model, &part.plan));
    Run {
        target: ledger.target.clone(),
        name: format!("{name}, in {}", directory.display()),
        command: first.map_or(String::new(), |part| part.plan.to_string()),
        seconds: statistics.elapsed.as_secs_f64(),
        ended,
        text: summary_line(statistics),
    }
}

/// Writes an entry for the one finding.
fn add(args: &arguments::Triage, name: &str, out: &mut Output) -> Result<Outcome> {
    let gathered = triage::gather(&args.directories, None)?;
    let [group] = &gathered.groups[..] else {
        bail!(
            "--add is for one finding, and there are {}; name its directory",
            gathered.groups.len()
        );
    };
    let text = triage::entry(name, args.issue.as_deref(), &group.best);
    let Some(path) = &args.ci.known else {
        write!(out, "{text}");
        return Ok(Outcome::NothingFound);
    };
    append(path, &text, &group.best)?;
    writeln!(
        out,
        "{}: {name:?} is known now. Its patterns may be edited.\n\n{text}",
        path.display()
    );
    Ok(Outcome::NothingFound)
}

/// Adds an entry at the end; what is there stays as it is.
fn append(path: &Path, text: &str, stored: &Stored) -> Result<()> {
    let shown = path.display();
    let before = match path.exists() {
        true => {
            let known = KnownIssues::load(path)?;
            if let known::Classification::Known(known) = known.classify(stored) {
                bail!("{shown}: {} is known already, as {known}", stored.finding.name);
            }
            std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?
        }
        false => String::new(),
    };
    let gap = match &before[..] {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let added = format!("{gap}{text}");
    KnownIssues::parse(path, &format!("{before}{added}"))?;
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(added.as_bytes()).with_context(|| format!("cannot write {shown}"))
}

/// The same for a machine.
#[derive(Serialize)]
struct Json<'a> {
    findings: Vec<JsonGroup<'a>>,
    runs: Vec<&'a PathBuf>,
    new: usize,
    /// How many bugs the findings most likely are.
    bugs: usize,
    known: Vec<IssueCount>,
    /// Names of known issues that fit nothing.
    stale: Vec<&'a str>,
    damaged: Vec<String>,
    outcome: Outcome,
}

#[derive(Serialize)]
struct JsonGroup<'a> {
    /// The same number for findings that are most likely one bug.
    bug: usize,
    known: Option<&'a KnownAs>,
    target: &'a str,
    signature: String,
    first_signature: String,
    rule: String,
    sightings: u64,
    runs: &'a [PathBuf],
    size: Size,
    confirmed: Option<bool>,
    /// The first line of each finding that has the signature.
    places: &'a BTreeSet<String>,
    /// Source lines, those to look at first before the others.
    lines: Vec<JsonLine<'a>>,
    directory: &'a Path,
}

#[derive(Serialize)]
struct JsonLine<'a> {
    file: &'a Path,
    line: u32,
    function: &'a str,
    what: String,
}

impl<'a> Json<'a> {
    fn of(gathered: &'a Gathered, known: &'a KnownIssues) -> Json<'a> {
        let numbers = triage::same_bug::numbers(&gathered.bugs);
        let each = gathered.groups.iter().zip(numbers);
        let findings: Vec<JsonGroup> = each.map(|(group, bug)| JsonGroup::of(group, bug)).collect();
        Json {
            new: findings.iter().filter(|group| group.known.is_none()).count(),
            bugs: gathered.bugs.len(),
            findings,
            runs: gathered.ledgers.iter().map(|(directory, _)| directory).collect(),
            known: seen(gathered),
            stale: gathered.stale.iter().map(|at| &*known.entries[*at].name).collect(),
            damaged: gathered.damaged.iter().map(|error| format!("{error:#}")).collect(),
            outcome: outcome(gathered),
        }
    }
}

impl<'a> JsonGroup<'a> {
    fn of(group: &'a Group, bug: usize) -> JsonGroup<'a> {
        let (stored, finding) = (&group.best, &group.best.finding);
        let line = |location: locations::Location<'a>| {
            let place = location.place.in_library();
            let (file, function) = (&*place.file, &*location.place.function);
            JsonLine { file, line: place.line, function, what: words::occurrence(location.what) }
        };
        JsonGroup {
            bug,
            known: finding.known.as_ref(),
            target: finding.plan.target_name(),
            signature: finding.signature.to_string(),
            first_signature: finding.first_signature().to_string(),
            rule: results::rule(finding),
            sightings: finding.sightings,
            runs: &group.runs,
            size: group.size(),
            confirmed: finding.confirmed,
            places: &group.places,
            lines: locations::rank(stored).into_iter().map(line).collect(),
            directory: &stored.directory,
        }
    }
}
