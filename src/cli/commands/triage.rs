//! `interlap triage`: lists the findings of many runs, each bug once, and names the known ones.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::ci::Reports;
use super::print_json;
use crate::campaign::triage;
use crate::campaign::triage::Gathered;
use crate::cli::arguments;
use crate::core::files;
use crate::core::outcome::Outcome;
use crate::finding::Stored;
use crate::finding::known;
use crate::finding::known::KnownIssues;
use crate::report::output::{Output, warning};
use crate::report::results::Run;
use crate::report::triage as listed;

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
        print_json(out, &listed::Json::new(&gathered, &known))?;
    } else if !reports.take_stdout() {
        print(&gathered, &known, out);
    }
    gathered.damaged.iter().for_each(|error| warning!("{error:#}"));
    reports.write(
        gathered.ledgers.iter().map(|(at, ledger)| Run::of_ledger(at, ledger)).collect(),
        findings,
        out,
    )?;
    if !gathered.damaged.is_empty() {
        bail!("{} could not be read, see above; the others are listed", gathered.damaged.len());
    }
    Ok(gathered.outcome())
}

fn print(gathered: &Gathered, known: &KnownIssues, out: &mut Output) {
    let (groups, runs) = (&gathered.groups, gathered.ledgers.len());
    if groups.is_empty() {
        writeln!(out, "Nothing was found.");
    } else {
        write!(out, "{}", listed::table(groups, &gathered.bugs));
    }
    let new = groups.iter().filter(|group| group.best.finding.known.is_none()).count();
    let s = if runs == 1 { "" } else { "s" };
    writeln!(out, "\n{} distinct, {new} new, of {runs} run{s}.{}", groups.len(), bugs(gathered));
    known::count_issues(groups.iter().map(|group| &group.best.finding))
        .iter()
        .for_each(|known| writeln!(out, "{}", listed::issue_line(known)));
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

/// The likely number of bugs, if it is smaller than that of the findings.
fn bugs(gathered: &Gathered) -> String {
    match gathered.bugs.len() {
        all if all == gathered.groups.len() => String::new(),
        1 => " They are most likely 1 bug.".to_string(),
        bugs => format!(" They are most likely {bugs} bugs."),
    }
}

/// Writes an entry of known issues for the only finding.
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

/// Appends an entry to the file.
fn append(path: &Path, text: &str, stored: &Stored) -> Result<()> {
    let shown = path.display();
    let before = match path.exists() {
        true => {
            let known = KnownIssues::load(path)?;
            if let known::Classification::Known(known) = known.classify(stored) {
                bail!("{shown}: {} is known already, as {known}", stored.finding.name);
            }
            String::from_utf8(files::read(path).with_context(|| format!("cannot read {shown}"))?)
                .with_context(|| format!("cannot read {shown}"))?
        }
        false => String::new(),
    };
    let gap = match &before[..] {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let all = format!("{before}{gap}{text}");
    KnownIssues::parse(path, &all)?;
    files::put(path, all.as_bytes()).with_context(|| format!("cannot write {shown}"))
}
