//! Exports a finding as a program that reproduces it without interlap, with a README and a bug
//! report. [`search`] decides which program that is; `crate::cli` writes the files.
//!
//! The adapter and the library are compiled unchanged, with hooks at each access. The program's own
//! runtime (`code/schedule.c`, `code/hooks.c`) stops threads at the hooks, so it also runs against
//! a library that somebody has changed.
//!
//! - `calls`: Writes the calls of a history and their answers in words and in C.
//! - `issue`: Writes a bug report for the library's authors, as Markdown to be pasted into an
//!   issue.
//! - `older`: Finds the accesses of a trail that do not meet the newest store of their location, in
//!   rounds with the memory of C++.
//! - `program`: Writes the reproducer: a program in C that calls the structure as the finding did.
//! - `readme`: Writes the README of an export, for people who know neither interlap nor the
//!   library.
//! - `search`: Searches for a program that reproduces the finding: compiles and runs drafts within
//!   a limit of time, and returns the best one with the result of its runs.
//! - `source`: Copies the adapter and the headers beside it, without installed headers and
//!   interlap's own.
//! - `trial`: Compiles a reproducer, and runs it to see whether it shows the finding.
//! - `turns`: Builds the schedule of a reproducer from a trail: a list of turns, each a thread and
//!   the event before which its turn ends.

mod calls;
mod issue;
mod older;
mod program;
mod readme;
pub mod search;
mod source;
mod trial;
mod turns;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

pub use issue::Versions;
pub use search::TrialResult;

use crate::adapter::compile::{Language, WRAPPED};
use crate::adapter::sources::HEADERS;
use crate::core::plan::{Engine, Plan, quoted};
use crate::finding::interleaving::Interleaving;
use crate::finding::{Failure, Stored};
use crate::process::fault::FaultKind;
use crate::trace::trail::Event;
use program::{Program, Symptom};
use source::Source;
use turns::Schedule;

/// The file of the program.
pub const FILE: &str = "reproducer.c";
/// The directory of the headers of the contract.
const CONTRACT: &str = "interlap";

/// Most calls of a round that is exported.
const CALLS_MAX: usize = 5_000;

/// What a round's threads did, seen in a rerun.
pub struct Execution {
    pub table: Interleaving,
    /// Each event, with whether other threads could notice it.
    pub trail: Vec<(Event, bool)>,
}

/// What drafts are made of.
pub struct Material<'a> {
    pub stored: &'a Stored,
    /// None if a rerun did not show it.
    pub execution: Option<&'a Execution>,
    source: Source,
    /// What is compiled besides the program: the adapter first, then sources of the library.
    units: Vec<Unit>,
    /// More flags for the compiler and the linker.
    flags: Vec<String>,
    link_flags: Vec<String>,
    /// Flags for code that calls hooks.
    hooks: Vec<&'static str>,
    /// The headers of the contract.
    contract: Vec<Written>,
    title: String,
}

/// A source that becomes an object of the program.
struct Unit {
    source: String,
    object: String,
    language: Language,
    compiler: String,
}

impl Unit {
    fn new(source: &Path, object: String) -> Result<Unit> {
        let language = Language::from_path(source)?;
        let (source, compiler) = (source.display().to_string(), compiler(language));
        Ok(Unit { source, object, language, compiler })
    }
}

/// How the adapter is compiled.
pub struct Build {
    pub adapter: PathBuf,
    pub include_dirs: Vec<PathBuf>,
    pub flags: Vec<String>,
    pub libraries: Vec<String>,
    /// Whether its atomics call libatomic when it has no hooks.
    pub needs_libatomic: bool,
    /// Flags for code that calls hooks.
    pub hooks: Vec<&'static str>,
    /// The directory of interlap.h and the headers that make it easier to use.
    pub contract: PathBuf,
}

/// What a program does before each access to memory.
#[derive(Clone, Debug, PartialEq)]
enum Runtime {
    /// The thread waits for its turn.
    Schedule(Schedule),
    /// Nothing: all threads run at once.
    Free,
    /// Nothing, and some of what is linked was compiled to call hooks all the same.
    FreeHooks,
}

impl Runtime {
    fn schedule(&self) -> Option<&Schedule> {
        match self {
            Runtime::Schedule(schedule) => Some(schedule),
            _ => None,
        }
    }

    fn has_hooks(&self) -> bool {
        *self != Runtime::Free
    }
}

/// A program that may reproduce the finding, as texts.
#[derive(Clone, Debug)]
pub struct Draft {
    runtime: Runtime,
    /// The shell command that compiles it.
    command: String,
    files: Vec<Written>,
}

/// A file to be written, by its path in the export's directory.
pub type Written = (PathBuf, String);

impl<'a> Material<'a> {
    pub fn new(
        stored: &'a Stored,
        execution: Option<&'a Execution>,
        build: Build,
    ) -> Result<Material<'a>> {
        let calls = stored.round.history.len();
        if calls == 0 {
            bail!("{} has no calls, so that there is nothing to call again", stored.finding.name);
        }
        if calls > CALLS_MAX {
            let directory = quoted(&stored.directory.display().to_string());
            let beside = match stored.finding.plan.engine {
                Engine::Rr => {
                    format!(" and export {}", quoted(&stored.smaller().display().to_string()))
                }
                _ => String::new(),
            };
            let smaller =
                format!("make it smaller with `interlap shrink {directory}`{beside}, or ");
            bail!(
                "{} has {calls} calls, too many for a program that people read; {smaller}hunt it \
                 where it is shrunk: {}",
                stored.finding.name,
                controlled_command(stored)
            );
        }
        let source = Source::read(&build.adapter)?;
        let language = Language::from_path(&build.adapter)?;
        let is_of_language = |name: &&str| match language {
            Language::C => name.ends_with(".h"),
            Language::Cpp => *name != "interlap_c.h",
        };
        let headers = HEADERS.into_iter().filter(is_of_language);
        let contract = headers.map(|name| -> Result<Written> {
            let text = std::fs::read_to_string(build.contract.join(name))?;
            Ok((Path::new(CONTRACT).join(name), text))
        });
        let (flags, link_flags, library) = split_flags(&build, &source);
        let mut units = vec![Unit::new(&source.adapter(), "adapter.o".to_string())?];
        for (at, path) in library.iter().enumerate() {
            units.push(Unit::new(Path::new(path), format!("library{}.o", at + 1))?);
        }
        Ok(Material {
            stored,
            execution,
            units,
            flags,
            link_flags,
            hooks: build.hooks,
            contract: contract.into_iter().collect::<Result<_>>()?,
            title: issue::title(stored),
            source,
        })
    }

    fn draft(&self, runtime: Runtime) -> Draft {
        let command = self.command(&runtime);
        let program = Program {
            stored: self.stored,
            runtime: &runtime,
            table: self.execution.map(|execution| &execution.table),
            command: &command,
            title: &self.title,
        };
        let mut files = vec![(PathBuf::from(FILE), program.text())];
        let mut of_runtime = |name: &str, text: &str| {
            files.push((PathBuf::from(name), text.to_string()));
        };
        if runtime.has_hooks() {
            of_runtime("hooks.c", include_str!("code/hooks.c"));
        }
        if runtime.schedule().is_some() {
            of_runtime("schedule.c", include_str!("code/schedule.c"));
        }
        files.extend(self.source.copies().into_iter().chain(self.contract.iter().cloned()));
        Draft { runtime, command, files }
    }

    /// Compiles the adapter and the library with hooks, and the program without. Links without the
    /// compiler's own library of hooks.
    fn command(&self, runtime: &Runtime) -> String {
        let is_scheduled = runtime.schedule().is_some();
        let mut of_all = vec!["-O2", "-g", "-pthread"];
        if self.wants_sanitizer() && !is_scheduled {
            of_all.push("-fsanitize=address");
        }
        let include = format!("-I{CONTRACT}");
        let mut hooked = of_all.clone();
        hooked.extend(self.hooks.iter().filter(|_| is_scheduled));
        // Not the program: how it lets threads meet must not count as an order.
        let race = (self.symptom() == Symptom::Race).then_some("-fsanitize=thread");
        hooked.extend(race);
        let mut steps: Vec<Vec<&str>> =
            self.units.iter().map(|unit| self.compiled(unit, &hooked, &include)).collect();
        let is_cpp = |unit: &&Unit| unit.language == Language::Cpp;
        let linker = &self.units.iter().find(is_cpp).unwrap_or(&self.units[0]).compiler[..];
        let mut own = vec![linker];
        own.extend(of_all.iter());
        own.extend(runtime.has_hooks().then_some("-mcx16"));
        own.extend([&include[..], "-x", "c", "-c", FILE, "-o", "reproducer.o"]);
        let mut link = vec![linker];
        link.extend(of_all[2..].iter());
        link.extend(is_scheduled.then_some(WRAPPED));
        link.extend(race);
        link.extend(self.units.iter().map(|unit| &unit.object[..]));
        link.extend(["reproducer.o", "-o", "reproducer"]);
        link.extend(self.link_flags.iter().map(String::as_str));
        steps.extend([own, link]);
        steps.iter().map(|words| readme::shell(words)).collect::<Vec<_>>().join(" && ")
    }

    fn compiled<'b>(
        &'b self,
        unit: &'b Unit,
        of_all: &[&'b str],
        include: &'b str,
    ) -> Vec<&'b str> {
        let mut words = vec![&unit.compiler[..]];
        let is_of_other = |flag: &&String| match flag.strip_prefix("-std=") {
            Some(name) => name.contains("++") != (unit.language == Language::Cpp),
            None => false,
        };
        let flags: Vec<&String> = self.flags.iter().filter(|flag| !is_of_other(flag)).collect();
        if !flags.iter().any(|flag| flag.starts_with("-std=")) {
            words.push(if unit.language == Language::C { "-std=gnu11" } else { "-std=c++17" });
        }
        words.extend(of_all.iter());
        words.extend(flags.iter().map(|flag| flag.as_str()));
        words.extend([include, "-c", &unit.source, "-o", &unit.object]);
        words
    }

    /// Whether a process may survive the fault: a misuse of memory.
    fn wants_sanitizer(&self) -> bool {
        match &self.stored.finding.what {
            Failure::Fault { kind: FaultKind::Detected(kind), .. } => {
                trial::sanitizer_error(*kind).is_some()
            }
            _ => false,
        }
    }

    fn symptom(&self) -> Symptom {
        Symptom::from_failure(&self.stored.finding.what)
    }

    /// All files of an export.
    pub fn files(&self, draft: &Draft, tried: &TrialResult, versions: &Versions) -> Vec<Written> {
        let mut files = draft.files.clone();
        files.push((PathBuf::from("README.md"), readme::text(self, draft, tried)));
        files.push((PathBuf::from("report.md"), issue::text(self, draft, tried, versions)));
        files
    }
}

/// The command that hunts the finding with the controlled engine.
fn controlled_command(stored: &Stored) -> String {
    let engine = Engine::Controlled;
    Plan { engine, scenarios: Vec::new(), ..stored.finding.plan.clone() }.to_string()
}

/// Splits the adapter's flags into those of the compiler, those of the linker, and sources of the
/// library.
fn split_flags(build: &Build, source: &Source) -> (Vec<String>, Vec<String>, Vec<String>) {
    let [mut compile, mut link, mut sources]: [Vec<String>; 3] = Default::default();
    let folder = build.adapter.parent().unwrap_or(Path::new("."));
    let beside = source.includes_from(folder).then(|| folder.to_path_buf());
    for dir in build.include_dirs.iter().chain(&beside) {
        compile.push(format!("-I{}", dir.display()));
    }
    let mut words = build.flags.iter();
    while let Some(word) = words.next() {
        let takes_next = ["-L", "-I", "-l", "-Xlinker"].contains(&&word[..]);
        let next = words.clone().next().filter(|_| takes_next);
        let joint = if word == "-Xlinker" { "-Wl," } else { word };
        let word = match next {
            Some(next) => {
                words.next();
                format!("{joint}{next}")
            }
            None => word.clone(),
        };
        if let Some(dir) = word.strip_prefix("-L") {
            link.push(format!("-Wl,-rpath,{dir}"));
        }
        let is_file = !word.starts_with('-');
        if is_file && Language::from_path(Path::new(&word)).is_ok() {
            sources.push(word);
            continue;
        }
        let of_linker = ["-l", "-L", "-Wl,"].iter().any(|prefix| word.starts_with(prefix));
        if is_file || of_linker { link.push(word) } else { compile.push(word) }
    }
    link.extend(build.libraries.iter().map(|library| format!("-l{library}")));
    let atomics = "-latomic".to_string();
    if build.needs_libatomic && !link.contains(&atomics) {
        link.push(atomics);
    }
    (compile, link, sources)
}

/// `g++`, or `gcc` for C; if it is missing, the compiler of the environment.
fn compiler(language: Language) -> String {
    let (plain, variable) = match language {
        Language::C => ("gcc", "CC"),
        Language::Cpp => ("g++", "CXX"),
    };
    let answers = |program: &str| {
        let mut command = std::process::Command::new(program);
        command.arg("--version").output().is_ok_and(|output| output.status.success())
    };
    match std::env::var(variable) {
        Ok(own) if !answers(plain) => own,
        _ => plain.to_string(),
    }
}
