//! `--coverage`: what judging exercised of a specification, in words and as a file.

use anyhow::{Context, Result, bail};

use crate::cli::arguments;
use crate::core::files;
use crate::model::Spec;
use crate::process::model::count_what_steps_go_through;
use crate::report::output::Output;
use crate::report::specification;

/// Begins to count, if that is asked for; before the model is started.
///
/// # Errors
/// If the file cannot be written.
pub fn begin(args: &arguments::Model) -> Result<()> {
    if let Some(path) = &args.coverage {
        files::put(path, b"").with_context(|| format!("cannot write {}", path.display()))?;
        count_what_steps_go_through();
    }
    Ok(())
}

/// Writes what was counted of the model, and prints it if there is an `out`.
///
/// # Errors
/// If the model is no specification, or the file cannot be written.
pub fn end(args: &arguments::Model, model: Option<Spec>, out: Option<&mut Output>) -> Result<()> {
    let Some(path) = &args.coverage else { return Ok(()) };
    let shown = path.display();
    let program = model.and_then(|model| model.program).and_then(|program| program.running());
    let Some(covered) = program.and_then(|running| running.covered()) else {
        bail!("--coverage {shown}: the model is no specification in TLA+ that judged something");
    };
    let json = serde_json::to_vec_pretty(&covered.parts)?;
    files::put(path, &json).with_context(|| format!("cannot write {shown}"))?;
    if let Some(out) = out {
        write!(out, "{}", specification::text(&covered));
    }
    Ok(())
}
