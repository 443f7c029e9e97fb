//! `interlap list`: lists the rounds that runs kept in a store; and what `interlap check` makes of
//! all of them, beside what was made of them before.

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::print_json;
use crate::cli::arguments;
use crate::core::columns;
use crate::core::outcome::Outcome;
use crate::report::output::Output;
use crate::report::words::counted;
use crate::trace::kept::{self, JudgedRound, Made};
use crate::view::checked::Checked;

/// A round, and the run that kept it.
#[derive(Serialize)]
struct Listed {
    run: String,
    #[serde(flatten)]
    round: JudgedRound,
}

pub fn list(args: &arguments::List, out: &mut Output) -> Result<Outcome> {
    let store = args.store.display();
    let runs = kept::runs(&args.store).with_context(|| format!("cannot read {store}"))?;
    if runs.is_empty() {
        bail!("{store}: no rounds are kept there (`interlap fuzz TARGET --store {store}` does)");
    }
    let count = runs.len();
    let of_run = |mut run: kept::StoredRun| {
        run.judged.sort_by_key(|judged| judged.round);
        run.judged.into_iter().map(move |round| Listed { run: run.name.clone(), round })
    };
    let mut listed: Vec<Listed> = runs.into_iter().flat_map(of_run).collect();
    let kept = listed.len();
    listed.retain(|one| !args.undecided || one.round.verdict == Made::Undecided);
    if let Some(most) = args.slow {
        let seconds = |one: &Listed| one.round.seconds.unwrap_or(0.0);
        listed.sort_by(|one, other| seconds(other).total_cmp(&seconds(one)));
        listed.truncate(most);
    }
    if args.format.json {
        print_json(out, &listed)?;
        return Ok(Outcome::NothingFound);
    }
    let head = ["run", "round", "threads", "operations", "seconds", "verdict"].map(String::from);
    let rows: Vec<[String; 6]> = [head].into_iter().chain(listed.iter().map(row)).collect();
    write!(out, "{}", columns::table(&rows, 1..5, ""));
    let runs = counted(count as u64, "run");
    writeln!(out, "\n{} of {kept} rounds, of {runs}", listed.len());
    Ok(Outcome::NothingFound)
}

/// What was made of the histories of a store.
#[derive(Default)]
pub struct Tally {
    consistent: usize,
    violations: usize,
    undecided: usize,
    /// Those of which something else was made before.
    differ: Vec<String>,
}

impl Tally {
    /// Counts a history of a store. Returns whether it is told by itself: of the many of a store,
    /// those are that are not consistent.
    pub fn add(&mut self, checked: &Checked, stored: Option<Made>) -> bool {
        let Some(before) = stored else { return true };
        let made = Made::of(&checked.verdict);
        match made {
            Made::Consistent => self.consistent += 1,
            Made::Violation => self.violations += 1,
            Made::Undecided | Made::Fault => self.undecided += 1,
        }
        if made != before && before != Made::Fault {
            let (name, made, before) = (checked.of.name, made.name(), before.name());
            self.differ.push(format!("{name}: {made} (it was {before})"));
        }
        made != Made::Consistent
    }

    /// Nothing where there was no store.
    pub fn text(&self) -> String {
        let Tally { consistent, violations, undecided, differ } = self;
        let all = consistent + violations + undecided;
        if all == 0 {
            return String::new();
        }
        let mut text = format!(
            "{all} rounds: {consistent} consistent, {violations} violations, {undecided} \
             undecided\n"
        );
        if differ.is_empty() {
            return text + "Of all of them the same was made before.\n";
        }
        text += &format!("Of {} something else was made before:\n", differ.len());
        differ.iter().for_each(|line| text += &format!("  {line}\n"));
        text
    }
}

fn row(Listed { run, round: of }: &Listed) -> [String; 6] {
    let seconds = of.seconds.map_or("-".to_string(), |seconds| format!("{seconds:.6}"));
    let rule = of.rule.as_ref().map_or(String::new(), |rule| format!(" ({rule})"));
    [
        run.clone(),
        of.round.to_string(),
        of.threads.to_string(),
        of.operations.to_string(),
        seconds,
        format!("{}{rule}", of.verdict.name()),
    ]
}
