//! Finds and compiles adapters for the commands, and finds the harness program.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::adapter::cache::Cache;
use crate::adapter::catalog::{Adapter, Catalog};
use crate::adapter::compile::{Compiled, Flavour, Request, Toolchain};
use crate::adapter::sources::Sources;
use crate::core::plan::{Engine, Plan};
use crate::finding::trust::Trusted;
use crate::fuzz::engine::flavour_for;
use crate::model::Spec;
use crate::process;
use crate::report::output::{note, warning};

/// The bundled adapters, and what is needed to compile one.
pub struct Adapters {
    toolchain: Toolchain,
    catalog: Catalog,
}

impl Adapters {
    pub fn open() -> Result<Adapters> {
        let sources = Sources::EMBEDDED;
        let toolchain = Toolchain::new(Cache::for_user()?, sources)?;
        let catalog = Catalog::new(sources, toolchain.tree());
        Ok(Adapters { toolchain, catalog })
    }

    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub fn find(&self, name_or_path: &str) -> Result<Adapter> {
        Ok(self.catalog.find(name_or_path)?)
    }

    /// Compiles the plan's adapter for its engine, or takes the library from the cache. Starts the
    /// program of its model, if it names one.
    pub fn compile(&self, plan: &Plan, trusted: Trusted) -> Result<Compiled> {
        start_model(plan.model.as_deref().and_then(|model| model.parse().ok()))?;
        let request = self.request(plan, trusted)?;
        let compiled = match self.toolchain.compile(&request) {
            Err(_) if plan.engine == Engine::Rr && request.flavour == Flavour::Hooked => {
                let plain = Request { flavour: Flavour::Plain, ..request };
                let compiled = self.toolchain.compile(&plain)?;
                warning!(
                    "the target does not compile with the hooks of the controlled engine, \
                     so that rr switches threads at fewer places; `--engine controlled` shows why"
                );
                compiled
            }
            compiled => compiled?,
        };
        if !compiled.warnings.trim().is_empty() {
            note!("{}", compiled.warnings.trim_end());
        }
        Ok(compiled)
    }

    /// The request that compiles the plan's adapter for its engine. A finding's plan has flags that
    /// can run code, so it must be trusted.
    pub fn request(&self, plan: &Plan, _: Trusted) -> Result<Request> {
        let build = &plan.build;
        let adapter = self.find(&build.adapter)?;
        Ok(Request {
            source: adapter.source,
            flavour: flavour_for(plan.engine, &adapter.head),
            include_dirs: build.include_dirs.clone(),
            libraries: build.libraries.clone(),
            flags: build.flags.clone(),
        })
    }
}

/// Starts the program of a model that was named, if that has one.
pub fn start_model(model: Option<Spec>) -> Result<()> {
    model.and_then(|model| model.program).map_or(Ok(()), process::model::start)
}

/// The harness program, which is in the folder of this one.
pub fn harness_program() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program's own path")?;
    let harness = own.with_file_name("interlap-harness");
    match harness.is_file() {
        true => Ok(harness),
        false => anyhow::bail!(
            "{} is missing; build it with `cargo build --release` or install both programs with \
             `cargo install --path .`",
            harness.display()
        ),
    }
}
