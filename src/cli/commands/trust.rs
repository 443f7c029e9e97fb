//! Decides for the commands that compile and run what a finding names whether they may.

use anyhow::{Result, bail};

use crate::adapter::compile::unusual_flag;
use crate::cli::arguments;
use crate::core::plan::{Build, Engine, quoted};
use crate::finding::Stored;
use crate::finding::trust::{Key, Trusted};
use crate::report::output::warning;

/// What lets this command run the finding: `--trust`, or that it was made here. An error says what
/// would be compiled and run.
pub fn of(stored: &Stored, by_user: arguments::Trust) -> Result<Trusted> {
    if by_user.given {
        return Ok(Trusted::by_user());
    }
    let (directory, names) = (stored.directory.display(), named(stored));
    if let Some(flag) = unusual_flag(&stored.finding.plan.build) {
        bail!(
            "{directory} is to be compiled with {flag}, which is none of the flags that only say \
             how a target is compiled and linked: others can make the compiler itself run code or \
             write files. It names: {names}. To compile and run that nevertheless, add --trust"
        );
    }
    let Some(trusted) = stored.trusted() else {
        bail!(
            "{directory} was not made here, or was changed since, and is code of whoever made it. \
             It names: {names}. To compile and run that, add --trust"
        );
    };
    Ok(trusted)
}

/// What would be compiled and run.
fn named(stored: &Stored) -> String {
    let plan = &stored.finding.plan;
    let Build { adapter, include_dirs, libraries, flags } = &plan.build;
    let mut words = vec![adapter.clone()];
    words.extend(include_dirs.iter().map(|dir| format!("-I{}", dir.display())));
    words.extend(libraries.iter().map(|library| format!("-l{library}")));
    words.extend(flags.iter().cloned());
    let mut names = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    if plan.engine == Engine::Rr {
        names += " under";
        let recorder = &plan.recorder;
        for word in std::iter::once(&recorder.program).chain(&recorder.args) {
            names += &format!(" {}", quoted(word));
        }
    }
    names
}

/// The key that marks what this run finds; a warning if there is none.
pub fn key() -> Option<Key> {
    let key = Key::for_user();
    if let Err(error) = &key {
        warning!(
            "findings get no mark that they were made here ({error}), so that replay, shrink, \
             explain and export ask for --trust"
        );
    }
    key.ok()
}
