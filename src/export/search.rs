//! Which program reproduces a finding: what can be tried comes in, is compiled and run; the best
//! draft goes out, with what became of it. Nothing is claimed that was not tried.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::halts::{self, Files, Halt};
use super::program::{Binding, Sign};
use super::script::{self, Script};
use super::{Draft, Material, headers, trial};
use crate::compile::Language;
use crate::interleaving::{Row, What};
use crate::plan::Heap;

/// Runs of a program that is said to reproduce in every run.
pub const RUNS: usize = 20;
/// The same of one that hangs, which takes seconds each time.
const HANGING_RUNS: usize = 4;
/// Runs of a program that has to try for a while, and how many seconds each may take.
const LONG_RUNS: usize = 5;
const LONG_SECONDS: f64 = 6.0;

/// What became of a draft.
#[derive(Clone, Debug, PartialEq)]
pub enum Tried {
    No,
    /// What the compiler said.
    DoesNotCompile(String),
    /// How many of so many runs showed it, each given so many seconds.
    Runs {
        shown: usize,
        runs: usize,
        seconds: f64,
    },
}

impl Tried {
    pub fn is_sure(&self) -> bool {
        matches!(self, Tried::Runs { shown, runs, .. } if shown == runs)
    }

    pub fn is_shown(&self) -> bool {
        matches!(self, Tried::Runs { shown, .. } if *shown > 0)
    }

    /// "reproduces in every run (20 of 20)".
    pub fn words(&self) -> String {
        match self {
            Tried::No => "not tried".to_string(),
            Tried::DoesNotCompile(_) => "does not compile".to_string(),
            Tried::Runs { shown, runs, seconds } => {
                let each = match seconds {
                    0.0 => String::new(),
                    seconds => format!(", each given {seconds} seconds"),
                };
                match shown {
                    0 => format!("was not seen in {runs} runs{each}"),
                    shown if shown == runs => {
                        format!("reproduces in every run ({shown} of {runs}{each})")
                    }
                    shown => format!("reproduces in some runs ({shown} of {runs}{each})"),
                }
            }
        }
    }
}

/// The best draft that is found in time; without any trial, the likeliest one.
pub fn search(material: &Material, budget: Option<Duration>) -> Result<(Draft, Tried)> {
    let Some(budget) = budget else {
        let forced = forced(material).into_iter().next();
        let draft = forced.and_then(|forced| forced.drafts(material, binding_of(material)).next());
        let free = || free(material, binding_of(material));
        return Ok((draft.unwrap_or_else(free), Tried::No));
    };
    let end = Instant::now() + budget;
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let probe = Probe { material, directory: scratch.path() };
    let mut fallback = free(material, binding_of(material));
    if let Err(words) = probe.compile(&fallback)? {
        let table = free(material, Binding::Table);
        if fallback.binding == Binding::Table || probe.compile(&table)?.is_err() {
            return Ok((fallback, Tried::DoesNotCompile(words)));
        }
        fallback = table;
    }
    let mut best: Option<(Draft, Tried)> = None;
    for forced in forced(material) {
        for (at, draft) in forced.drafts(material, fallback.binding).enumerate() {
            // The likeliest one is tried however slow the machine is.
            if at > 0 && Instant::now() > end {
                break;
            }
            if probe.compile(&draft)?.is_err() || !probe.shows(0.0)? {
                continue;
            }
            let hangs = material.sign() == Sign::Hang;
            let tried = probe.runs(if hangs { HANGING_RUNS } else { RUNS }, 0.0)?;
            if tried.is_sure() {
                return Ok((draft, tried));
            }
            best.get_or_insert((draft, tried));
        }
    }
    if let Some(best) = best {
        return Ok(best);
    }
    // An error was told above.
    let _ = probe.compile(&fallback)?;
    let tried = probe.runs(LONG_RUNS, LONG_SECONDS)?;
    Ok((fallback, tried))
}

/// A C adapter, and one that gives its table itself, has no class.
fn binding_of(material: &Material) -> Binding {
    let has_class = material.source.all().contains("INTERLAP_TARGET(");
    match material.language {
        Language::Cpp if has_class => Binding::Class,
        _ => Binding::Table,
    }
}

fn free(material: &Material, binding: Binding) -> Draft {
    let (round, history) = (&material.stored.round.start, &material.stored.round.history);
    let script = match round.sequential {
        true => script::in_order(history, round.threads),
        false => script::at_once(history, round.threads),
    };
    material.draft(&script, &[], binding, false)
}

struct Probe<'a> {
    material: &'a Material<'a>,
    directory: &'a Path,
}

impl Probe<'_> {
    fn compile(&self, draft: &Draft) -> Result<Result<(), String>> {
        let mut files = headers::files(&draft.headers);
        files.push((self.material.file().into(), draft.text.clone()));
        for (name, text) in files {
            let path = self.directory.join(name);
            let parent = path.parent().unwrap_or(self.directory);
            std::fs::create_dir_all(parent).context("cannot make a temporary directory")?;
            std::fs::write(&path, text).context("cannot write a temporary file")?;
        }
        trial::compile(&draft.command, self.directory)
    }

    fn shows(&self, seconds: f64) -> Result<bool> {
        trial::shows(self.directory, seconds, &self.material.stored.finding.what)
    }

    fn runs(&self, runs: usize, seconds: f64) -> Result<Tried> {
        let mut shown = 0;
        for _ in 0..runs {
            shown += usize::from(self.shows(seconds)?);
        }
        Ok(Tried::Runs { shown, runs, seconds })
    }
}

/// A script in turns, and for each of its stops the points that may be the right ones.
struct Forced {
    script: Script,
    options: Vec<Vec<Halt>>,
    reuses_memory: bool,
}

impl Forced {
    /// The likeliest points first; then one of them is another, in turn.
    fn drafts<'a>(
        &'a self,
        material: &'a Material,
        binding: Binding,
    ) -> impl Iterator<Item = Draft> + 'a {
        let first: Vec<usize> = vec![0; self.options.len()];
        let others = self
            .options
            .iter()
            .enumerate()
            .flat_map(|(at, options)| (1..options.len()).map(move |choice| (at, choice)));
        let choices = std::iter::once(first.clone()).chain(others.map(move |(at, choice)| {
            let mut choices = first.clone();
            choices[at] = choice;
            choices
        }));
        let possible = self.options.iter().all(|options| !options.is_empty());
        choices.filter(move |_| possible).map(move |choices| {
            let pairs = self.options.iter().zip(choices);
            let halts: Vec<Halt> = pairs.map(|(options, at)| options[at].clone()).collect();
            material.draft(&self.script, &halts, binding, self.reuses_memory)
        })
    }
}

/// What can be forced, the simplest first.
fn forced(material: &Material) -> Vec<Forced> {
    let stored = material.stored;
    let (round, history) = (&stored.round.start, &stored.round.history);
    if round.sequential {
        let script = script::in_order(history, round.threads);
        return vec![Forced { script, options: Vec::new(), reuses_memory: false }];
    }
    let Some(table) = material.table else { return Vec::new() };
    let matters: fn(&Row) -> bool = |row| row.matters;
    let all: fn(&Row) -> bool = |_| true;
    let frees =
        |row: &Row| matches!(&row.what, What::Act { text, .. } if text.starts_with("frees"));
    let may_reuse = stored.finding.plan.control.heap != Heap::Keep
        && material.language == Language::Cpp
        && table.rows.iter().any(frees)
        && !material.wants_sanitizer();
    let mut found: Vec<Forced> = Vec::new();
    for reuses_memory in [false, true].into_iter().take(1 + usize::from(may_reuse)) {
        for is_kept in [matters, all] {
            let script = script::in_turns(history, table, round.threads, is_kept);
            let is_new =
                |other: &Forced| other.script != script || other.reuses_memory != reuses_memory;
            if !found.iter().all(is_new) {
                continue;
            }
            let mut files = Files::new(&material.source, &material.roots);
            let options = script.stops.iter().map(|stop| {
                let op = history.operation(stop.call).op.name();
                halts::options(stop, table, op, &mut files)
            });
            let options = options.collect();
            found.push(Forced { script, options, reuses_memory });
        }
    }
    found
}
