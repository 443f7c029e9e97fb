//! `interlap replay --gdb`: runs a finding's round under gdb, which replaces this process and so
//! has its terminal.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::adapters::{Adapters, harness_program};
use super::recording;
use crate::cli::arguments;
use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, Plan, quoted};
use crate::finding::Stored;
use crate::finding::trust::Trusted;
use crate::report::debugger;
use crate::report::debugger::Stop;
use crate::report::output::note;

/// Returns only with an error.
pub fn run(stored: &mut Stored, trusted: Trusted, args: &arguments::Replay) -> Result<Outcome> {
    let asked = &args.stop;
    if stored.finding.plan.engine == Engine::Rr {
        return recording::debug(stored, trusted, args);
    }
    if asked.reverse {
        bail!("only recordings of rr can be run backwards: this finding is not of --engine rr");
    }
    let plan = &stored.finding.plan;
    if plan.engine == Engine::Native {
        let hunted = Plan { engine: Engine::Controlled, ..plan.clone() };
        bail!(
            "this finding is of native threads, which run differently each time: no debugger can \
             be stopped at its stamps. Hunt it with the controlled engine instead:\n  {hunted}"
        );
    }
    let stop = match (asked.op, asked.step) {
        (Some(number), _) => Stop::Operation(number),
        (None, Some(step)) => Stop::Step(step),
        (None, None) => Stop::AtFailure,
    };
    let arguments = debugger::arguments(stored, &stop)?;
    require_gdb()?;
    let compiled = Adapters::open()?.compile(plan, trusted)?;
    debugger::write(stored, &compiled.library, &harness_program()?)?;
    let mut gdb = Command::new("gdb");
    gdb.args(&arguments).args(&asked.arguments);
    let words = arguments.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    note!("gdb {words}");
    Err(gdb.exec()).context("cannot start gdb")
}

fn require_gdb() -> Result<()> {
    let mut gdb = Command::new("gdb");
    match gdb.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("gdb is not installed; on Debian: apt-get install gdb")
        }
        Err(error) => Err(error).context("cannot start gdb"),
    }
}
