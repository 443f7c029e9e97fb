//! A finding as a program that needs no interlap. A stored finding, the table of what its threads
//! did and the adapter's code come in; a reproducer, what is to be known about it and a report for
//! the library's authors go out as texts. [`search`] finds out what reproduces; nothing is written
//! where the user sees it.
//!
//! - `calls`: Calls in words and in C++: the operations of a history come in; what they are called,
//!   what they answered, and the functions that make them go out.
//! - `forced`: The orders that a program can force: a stored finding and the table of what its
//!   threads did come in; scripts in turns go out, each with the points at which its threads may
//!   have to be stopped.
//! - `halts`: Where in the code a thread can be stopped as it was in the finding.
//! - `headers`: Copies of a library's headers with points in them.
//! - `issue`: A bug report for the library's authors: a finding, what became of its reproducer and
//!   the versions come in; Markdown to be pasted into an issue goes out.
//! - `outline`: What a reproducer does, in words: a program comes in; its head, and who calls what
//!   when, go out.
//! - `program`: The reproducer: a program in one file.
//! - `readme`: The README of an export: a draft and what became of it come in; Markdown goes out,
//!   for people who know neither interlap nor the library.
//! - `script`: What the threads of a reproducer do, in order.
//! - `search`: Which program reproduces a finding: what can be tried comes in, is compiled and run,
//!   all within one limit of time; the best draft goes out, with what became of it.
//! - `source`: The adapter as one text.
//! - `statements`: Where a call can be put into C or C++ code.
//! - `trial`: Whether a reproducer reproduces: a directory with the program and the command that
//!   compiles it come in, what became of some runs goes out.

mod calls;
mod forced;
mod halts;
mod headers;
mod issue;
mod outline;
mod program;
mod readme;
mod script;
pub mod search;
mod source;
mod statements;
mod trial;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

pub use issue::Versions;
pub use search::Tried;

use crate::adapter::compile::Language;
use crate::core::plan::{Engine, Plan, quoted};
use crate::finding::interleaving::Interleaving;
use crate::finding::{Stored, What};
use crate::process::fault::FaultKind;
use halts::Halt;
use headers::Header;
use program::{Binding, Program, Sign};
use script::Script;
use source::Source;

/// Most calls of a round that is exported.
const CALLS_MAX: usize = 5_000;

/// What is needed besides the finding.
pub struct Material<'a> {
    pub stored: &'a Stored,
    /// What its threads did, if that is known.
    pub table: Option<&'a Interleaving>,
    source: Source,
    language: Language,
    /// Directories of headers, the first one found wins.
    roots: Vec<PathBuf>,
    /// What the compiler is told besides, for the compiler and for the linker.
    flags: Vec<String>,
    compiler: String,
    /// The headers of the contract.
    contract: String,
    title: String,
}

/// How the adapter is compiled.
pub struct Build {
    pub adapter: PathBuf,
    pub include_dirs: Vec<PathBuf>,
    /// Where the compiler looks for headers, in order.
    pub search_path: Vec<PathBuf>,
    pub flags: Vec<String>,
    pub libraries: Vec<String>,
    /// Whether its atomics are calls of a library that only the engine's hooks spare.
    pub needs_libatomic: bool,
    /// The directory of interlap.h and interlap.hpp.
    pub contract: PathBuf,
}

/// A way to reproduce the finding, as texts.
#[derive(Clone, Debug)]
pub struct Draft {
    script: Script,
    halts: Vec<Halt>,
    reuses_memory: bool,
    headers: Vec<Header>,
    command: Vec<String>,
    text: String,
}

/// A file to be written, by its path in the export's directory.
pub type Written = (PathBuf, String);

impl<'a> Material<'a> {
    pub fn new(
        stored: &'a Stored,
        table: Option<&'a Interleaving>,
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
                controlled(stored)
            );
        }
        let language = Language::of(&build.adapter)?;
        let source = Source::read(&build.adapter)?;
        let contract = |name: &str| std::fs::read_to_string(build.contract.join(name));
        let mut headers = contract("interlap.h")?;
        if language == Language::Cpp && source.includes_contract("interlap.hpp") {
            headers += &contract("interlap.hpp")?;
        }
        Ok(Material {
            stored,
            table,
            language,
            flags: flags(&build, &source),
            roots: build.search_path,
            compiler: compiler(language),
            contract: source::contract(&headers),
            title: issue::title(stored),
            source,
        })
    }

    /// The name of the program's file.
    pub fn file(&self) -> &'static str {
        if self.language == Language::C { "reproducer.c" } else { "reproducer.cpp" }
    }

    fn draft(
        &self,
        script: &Script,
        halts: &[Halt],
        binding: Binding,
        reuses_memory: bool,
    ) -> Draft {
        let halts = halts::named(halts.to_vec());
        let headers = headers::hooked(&halts, &self.source, &self.roots);
        let command = self.command(!headers.is_empty());
        let program = Program {
            stored: self.stored,
            source: &self.source,
            language: self.language,
            binding,
            contract: &self.contract,
            script,
            halts: &halts,
            command: &readme::shell(&command),
            reuses_memory,
            title: &self.title,
        };
        let text = program.text();
        let script = script.clone();
        Draft { script, halts, reuses_memory, headers, command, text }
    }

    fn command(&self, is_hooked: bool) -> Vec<String> {
        let standard = if self.language == Language::C { "-std=gnu11" } else { "-std=c++17" };
        let mut words = vec![self.compiler.clone()];
        if !self.flags.iter().any(|flag| flag.starts_with("-std=")) {
            words.push(standard.to_string());
        }
        words.extend(["-O2", "-g", "-pthread"].map(str::to_string));
        if self.wants_sanitizer() {
            words.push("-fsanitize=address".to_string());
        }
        if is_hooked {
            words.push(format!("-I{}", headers::DIRECTORY));
        }
        words.extend([self.file(), "-o", "reproducer"].map(str::to_string));
        words.extend(self.flags.iter().cloned());
        words
    }

    /// Of wrong uses of memory a process may take no notice.
    fn wants_sanitizer(&self) -> bool {
        match &self.stored.finding.what {
            What::Fault { kind: FaultKind::Detected(kind), .. } => {
                trial::sanitizers(*kind).is_some()
            }
            _ => false,
        }
    }

    fn sign(&self) -> Sign {
        Sign::of(&self.stored.finding.what)
    }

    /// All files of an export.
    pub fn files(&self, draft: &Draft, tried: &Tried, versions: &Versions) -> Vec<Written> {
        let mut files = vec![
            (PathBuf::from(self.file()), draft.text.clone()),
            (PathBuf::from("README.md"), readme::text(self, draft, tried)),
            (PathBuf::from("report.md"), issue::text(self, draft, tried, versions)),
        ];
        files.extend(headers::files(&draft.headers));
        files
    }
}

/// The hunt with the controlled engine for what a stored finding shows.
fn controlled(stored: &Stored) -> String {
    let engine = Engine::Controlled;
    Plan { engine, scenarios: Vec::new(), ..stored.finding.plan.clone() }.to_string()
}

/// What follows the program's name on the command line.
fn flags(build: &Build, source: &Source) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    let folder = build.adapter.parent().unwrap_or(Path::new("."));
    let beside = source.names_in(folder).then(|| folder.to_path_buf());
    for dir in build.include_dirs.iter().chain(&beside) {
        flags.push(format!("-I{}", dir.display()));
    }
    let mut words = build.flags.iter();
    while let Some(word) = words.next() {
        let word = if word == "-L" || word == "-I" {
            format!("{word}{}", words.next().map_or("", |path| path))
        } else {
            word.clone()
        };
        if let Some(dir) = word.strip_prefix("-L") {
            flags.push(format!("-Wl,-rpath,{dir}"));
        }
        flags.push(word);
    }
    flags.extend(build.libraries.iter().map(|library| format!("-l{library}")));
    let atomics = "-latomic".to_string();
    if build.needs_libatomic && !flags.contains(&atomics) {
        flags.push(atomics);
    }
    flags
}

/// `g++`, or `gcc` for C, which is what is meant by a plain compiler; where there is none, that of
/// the environment.
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
