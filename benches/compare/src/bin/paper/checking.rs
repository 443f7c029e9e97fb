//! The table of checking: each contender is asked about the same histories, from small to large.

use std::collections::{HashMap, HashSet};

use compare::simulate::{Profile, ranges};

use crate::contender::{Contender, Files, Outcome, ask};
use crate::table::{count, short, table};
use crate::{Setting, progress};

/// The numbers of operations that OmniLink's paper has, at five threads.
const OPERATIONS: [usize; 6] = [500, 10_000, 50_000, 100_000, 200_000, 450_000];
/// Its numbers of threads, with this many operations each.
const THREADS: [usize; 7] = [1, 5, 10, 20, 30, 40, 50];
const OPERATIONS_OF_A_THREAD: usize = 100;

/// A kind of histories.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    profile: Profile,
    bad: bool,
}

/// One history, and what came of asking all about it.
struct Row {
    kind: Kind,
    threads: usize,
    operations: usize,
    outcomes: HashMap<Contender, Outcome>,
}

impl Row {
    fn name(&self) -> String {
        let turns = match self.kind.profile {
            Profile::Parallel => "at once",
            Profile::Quanta => "in turns",
        };
        format!("{turns}, {}", if self.kind.bad { "bad" } else { "good" })
    }

    fn decided(&self, contender: Contender) -> Option<(f64, f64)> {
        match self.outcomes[&contender] {
            Outcome::Decided { cpu_seconds, mebibytes } => Some((cpu_seconds, mebibytes)),
            _ => None,
        }
    }
}

/// All that was measured.
pub struct Measured {
    by_operations: Vec<Row>,
    by_threads: Vec<Row>,
}

pub fn measured(setting: &Setting) -> Measured {
    let operations: Vec<_> = OPERATIONS.into_iter().filter(|n| *n <= setting.operations).collect();
    let operations = operations.into_iter().map(|operations| (5, operations));
    let threads = THREADS.map(|threads| (threads, threads * OPERATIONS_OF_A_THREAD));
    let by_threads = rows(threads.into_iter(), setting);
    Measured { by_operations: rows(operations, setting), by_threads }
}

/// Sizes come from small to large.
fn rows(sizes: impl Iterator<Item = (usize, usize)>, setting: &Setting) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut beaten: HashSet<(Contender, Profile, bool)> = HashSet::new();
    for (threads, operations) in sizes {
        for (profile, bad) in Profile::each() {
            let kind = Kind { profile, bad };
            let mut row = Row { kind, threads, operations, outcomes: HashMap::new() };
            progress(&format!("{threads} threads, {operations} operations, {}", row.name()));
            let files = Files::write(&ranges(threads, operations, profile, bad, 7), setting);
            for contender in Contender::ALL {
                let outcome = match beaten.contains(&(contender, profile, bad)) {
                    true => Outcome::NotAsked,
                    false => ask(contender, &files, !bad, setting),
                };
                progress(&format!("  {contender}: {}", cell(outcome, setting)));
                let stays = matches!(outcome, Outcome::Decided { .. });
                if !stays {
                    beaten.insert((contender, profile, bad));
                }
                // A bad history takes no less than a good one: each order of it must be looked at.
                if !stays && !bad {
                    beaten.insert((contender, profile, true));
                }
                row.outcomes.insert(contender, outcome);
            }
            files.remove();
            rows.push(row);
        }
    }
    rows
}

pub fn cell(outcome: Outcome, setting: &Setting) -> String {
    use crate::meter::Exceeded;
    let both =
        |seconds: f64, mebibytes: f64| format!("{} s, {} MiB", short(seconds), short(mebibytes));
    match outcome {
        Outcome::Decided { cpu_seconds, mebibytes } => both(cpu_seconds, mebibytes),
        Outcome::NotDecided { cpu_seconds, mebibytes } => {
            format!("not decided ({})", both(cpu_seconds, mebibytes))
        }
        Outcome::Exceeded(Exceeded::Time) => format!("> {} s", setting.limits.cpu_seconds),
        Outcome::Exceeded(Exceeded::Memory) => format!("> {} MiB", count(setting.limits.mebibytes)),
        Outcome::NotAsked => "not asked".into(),
    }
}

impl Measured {
    pub fn by_operations(&self, setting: &Setting) -> String {
        outcomes("operations", &self.by_operations, setting, |row| row.operations)
    }

    pub fn by_threads(&self, setting: &Setting) -> String {
        outcomes("threads", &self.by_threads, setting, |row| row.threads)
    }

    pub fn ratios_by_operations(&self) -> String {
        ratios("operations", &self.by_operations, |row| row.operations)
    }

    pub fn ratios_by_threads(&self) -> String {
        ratios("threads", &self.by_threads, |row| row.threads)
    }
}

/// Rows of one kind stand together.
fn sorted(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let kinds = Profile::each().map(|(profile, bad)| Kind { profile, bad });
    kinds.flat_map(move |kind| rows.iter().filter(move |row| row.kind == kind))
}

fn outcomes(size: &str, rows: &[Row], setting: &Setting, of: fn(&Row) -> usize) -> String {
    let names = Contender::ALL.map(|contender| contender.to_string());
    let mut head = vec!["history", size];
    head.extend(names.iter().map(String::as_str));
    let line = |row: &Row| {
        let cells = Contender::ALL.map(|contender| cell(row.outcomes[&contender], setting));
        let mut line = vec![row.name(), count(of(row) as u64)];
        line.extend(cells);
        line
    };
    table(&head, 1, &sorted(rows).map(line).collect::<Vec<_>>())
}

/// How many times as much one takes as another, where both decided.
fn ratios(size: &str, rows: &[Row], of: fn(&Row) -> usize) -> String {
    use Contender::{Bundled, Porcupine, Specification, Tlc};
    let pairs = [(Tlc, Bundled), (Tlc, Specification), (Porcupine, Bundled)];
    let line = |row: &Row| {
        let mut line = vec![row.name(), count(of(row) as u64)];
        for (more, less) in pairs {
            line.push(match (row.decided(more), row.decided(less)) {
                (Some(more), Some(less)) => {
                    format!("{} / {}", short(more.0 / less.0), short(more.1 / less.1))
                }
                _ => "-".into(),
            });
        }
        line
    };
    let some = |row: &&Row| pairs.iter().any(|(one, _)| row.decided(*one).is_some());
    let names = pairs.map(|(more, less)| format!("{more} to {less}"));
    let mut head = vec!["history", size];
    head.extend(names.iter().map(String::as_str));
    table(&head, 1, &sorted(rows).filter(some).map(line).collect::<Vec<_>>())
}
