//! Writes a finding's directory: data, report, page and gdb's script.

use std::path::Path;

use anyhow::{Context, Result};

use super::output::visible;
use super::{debugger, page, text};
use crate::core::files;
use crate::core::plan::Engine;
use crate::finding::{PAGE_FILE, REPORT_FILE, Stored};

/// Writes data, report and page, which need no compiled adapter.
pub fn write(stored: &Stored) -> Result<()> {
    stored.save()?;
    let write = |name: &str, text: String| {
        let path = stored.directory.join(name);
        files::replace(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))
    };
    write(REPORT_FILE, visible(&text::render(stored)).into_owned())?;
    write(PAGE_FILE, page::of_finding(stored))
}

/// Writes everything. With the controlled engine, gdb's script starts the harness with the compiled
/// adapter. Native threads have no script: their stamps differ in each run.
pub fn write_with_script(stored: &Stored, library: &Path, harness: &Path) -> Result<()> {
    write(stored)?;
    match stored.finding.plan.engine {
        Engine::Controlled => debugger::write(stored, library, harness),
        Engine::Rr if stored.finding.recorded.is_some() => debugger::write_recorded(stored),
        Engine::Rr | Engine::Native => Ok(()),
    }
}
