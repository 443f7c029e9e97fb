//! `interlap export`: writes a directory with a reproducer, its README and a bug report.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::adapters::Adapters;
use super::fuzz::rerun_options;
use super::{explain, place, print_json, stop_flag};
use crate::adapter::availability::{installed, packages_in_use};
use crate::adapter::compile::{Language, Request, needs_libatomic};
use crate::cli::arguments;
use crate::core::files;
use crate::core::machine::Machine;
use crate::core::outcome::Outcome;
use crate::core::plan::{Engine, quoted};
use crate::core::time_limit::TimeLimit;
use crate::export::{Build, Execution, FILE, Material, TrialResult, Versions, Written, search};
use crate::finding::Stored;
use crate::finding::trust::Trusted;
use crate::fuzz::Options;
use crate::report::output::{Output, note, warning};
use crate::report::progress::Progress;

/// The list of exported files with their hashes, by which a later export recognizes them.
const LIST: &str = "export.json";
/// The default directory, inside the finding's.
const DIRECTORY: &str = "export";

/// The output of `--json`.
#[derive(Serialize)]
struct Json<'a> {
    directory: &'a Path,
    files: Vec<&'a Path>,
    /// Whether it reproduces; none where it was not tried.
    reproduces: Option<bool>,
    words: String,
}

pub fn run(args: &arguments::Export, out: &mut Output) -> Result<Outcome> {
    let mut stored = Stored::load(&args.finding)?;
    let into = args.into.clone().unwrap_or_else(|| args.finding.join(DIRECTORY));
    let trusted = place::settle(&mut stored, args.trust, &args.place)?;
    let known = exported(&into)?;
    let adapters = Adapters::open()?;
    let time = TimeLimit::of(args.try_for);
    let seen = rerun(&stored, trusted, args, &time)?;
    let request = request(&adapters, &stored)?;
    let build = build(&adapters, &stored, trusted, &request)?;
    let material = Material::new(&stored, seen.as_ref(), build)?;
    time.begin();
    let budget = (!args.no_try).then(|| time.remaining());
    if budget.is_some() && !args.format.json {
        let seconds = args.try_for.as_secs();
        note!("compiling and running what may reproduce it, for {seconds} s at most ...");
    }
    let mut progress = Progress::new(None, args.format.json);
    let searched = search::search(&material, budget, &mut |line| progress.status(|| line));
    progress.finish();
    let (draft, tried) = searched?;
    let files = material.files(&draft, &tried, &versions(&adapters, &request));
    write(&into, &files, &known)?;
    if args.format.json {
        let mut names: Vec<&Path> = files.iter().map(|(name, _)| name.as_path()).collect();
        names.sort();
        let reproduces = matches!(tried, TrialResult::Runs { .. }).then(|| tried.is_shown());
        print_json(
            out,
            &Json { directory: &into, files: names, reproduces, words: tried.words() },
        )?;
    } else {
        print(&into, &tried, out);
    }
    Ok(if tried.is_shown() { Outcome::Found } else { Outcome::NotDecided })
}

fn print(into: &Path, tried: &TrialResult, out: &mut Output) {
    let at = |name: &str| quoted(&into.join(name).display().to_string());
    writeln!(out, "{}  # the program: {}", at(FILE), tried.words());
    writeln!(out, "{}  # how to compile and run it, what to expect", at("README.md"));
    writeln!(out, "{}  # to paste into an issue", at("report.md"));
    match tried {
        TrialResult::DoesNotCompile(words) => {
            writeln!(out, "\nIt does not compile:\n{}", words.trim_end());
        }
        TrialResult::Runs { .. } if !tried.is_shown() => {
            writeln!(
                out,
                "\nIt could not be reproduced without interlap; README.md says what to do."
            );
            writeln!(out, "{}", tried.failed_effort().unwrap_or_default());
            if tried.is_cut_short() {
                writeln!(out, "To try more of them: --try-for 5m");
            }
        }
        _ => {}
    }
}

/// What the threads did in a rerun. Without it the order is not forced, with a warning.
fn rerun(
    stored: &Stored,
    trusted: Trusted,
    args: &arguments::Export,
    time: &TimeLimit,
) -> Result<Option<Execution>> {
    let finding = &stored.finding;
    if finding.plan.engine != Engine::Controlled {
        return Ok(None);
    }
    let run = arguments::Run { duration: args.try_for, hang: Some(args.hang), format: args.format };
    let options = rerun_options(finding, trusted, &args.finding, &run, stop_flag()?)?;
    let options = Options { time: time.clone(), ..options };
    match explain::table_and_trail(stored, &options) {
        Ok((table, trail)) => Ok(Some(Execution { table, trail })),
        Err(error) => {
            warning!("the order is not forced: {error:#}");
            Ok(None)
        }
    }
}

fn request(adapters: &Adapters, stored: &Stored) -> Result<Request> {
    let build = &stored.finding.plan.build;
    let adapter = adapters.find(&build.adapter).with_context(|| {
        format!("{} cannot be exported without its adapter's source", stored.finding.name)
    })?;
    let here = std::env::current_dir().context("cannot find the current directory")?;
    let request = Request {
        source: adapter.source.clone(),
        include_dirs: build.include_dirs.clone(),
        libraries: build.libraries.clone(),
        flags: build.flags.clone(),
        ..Request::default()
    };
    let request = request.anchored(&here);
    Ok(Request { flags: request.all_flags(&adapter.head), ..request })
}

fn build(
    adapters: &Adapters,
    stored: &Stored,
    trusted: Trusted,
    request: &Request,
) -> Result<Build> {
    let toolchain = adapters.toolchain();
    // An error of the compiler shows when the program is tried.
    let compiled = adapters.compile(&stored.finding.plan, trusted).ok();
    Ok(Build {
        needs_libatomic: compiled.is_some_and(|compiled| needs_libatomic(&compiled.library)),
        adapter: request.source.clone(),
        include_dirs: request.include_dirs.clone(),
        flags: request.flags.clone(),
        libraries: request.libraries.clone(),
        hooks: toolchain.compiler(Language::from_path(&request.source)?)?.hooks(),
        contract: toolchain.tree().ffi(),
    })
}

fn versions(adapters: &Adapters, request: &Request) -> Versions {
    let toolchain = adapters.toolchain();
    let language = Language::from_path(&request.source).unwrap_or(Language::Cpp);
    let compiler = toolchain.compiler(language).map(|compiler| compiler.identity());
    let packages = packages_in_use(toolchain, request).unwrap_or_default();
    Versions {
        packages: installed(&packages),
        compiler: compiler.unwrap_or_default(),
        system: Machine::here().system,
    }
}

type Hashes = BTreeMap<PathBuf, String>;

/// The files of an earlier export, which nobody changed; none in an empty directory.
fn exported(into: &Path) -> Result<Hashes> {
    let is_empty = fs::read_dir(into).map_or(true, |mut entries| entries.next().is_none());
    if is_empty {
        return Ok(Hashes::new());
    }
    let list = files::read(&into.join(LIST)).ok();
    let known: Option<Hashes> = list.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(known) = known else {
        bail!("{} holds other files; name another directory with --into", into.display());
    };
    for (name, hash) in &known {
        if !files::is_below(name) {
            bail!("{}: {LIST} names a file outside: {}", into.display(), name.display());
        }
        let path = into.join(name);
        if fs::read(&path).is_ok_and(|bytes| hash_of(&bytes) != *hash) {
            bail!(
                "{} was changed since it was exported; move it away, or name another directory \
                 with --into",
                path.display()
            );
        }
    }
    Ok(known)
}

fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_string()
}

fn write(into: &Path, files: &[Written], known: &Hashes) -> Result<()> {
    for name in known.keys() {
        // The file may be gone already.
        let _ = fs::remove_file(into.join(name));
    }
    let mut hashes = Hashes::new();
    for (name, text) in files {
        let path = into.join(name);
        if path.exists() {
            bail!("{} is in the way; name another directory with --into", path.display());
        }
        let parent = path.parent().unwrap_or(into);
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
        files::replace(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        hashes.insert(name.clone(), hash_of(text.as_bytes()));
    }
    let path = into.join(LIST);
    files::replace(&path, &serde_json::to_vec_pretty(&hashes)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_files_elsewhere_removes_nothing() {
        let folder = files::scratch().expect("room");
        let (kept, into) = (folder.path().join("kept"), folder.path().join("export"));
        fs::create_dir(&into).expect("room");
        fs::write(&kept, "mine").expect("room");
        for name in ["../kept", &kept.display().to_string()] {
            let list = Hashes::from([(name.into(), hash_of(b"mine"))]);
            fs::write(into.join(LIST), serde_json::to_vec(&list).expect("text")).expect("room");
            assert!(exported(&into).is_err(), "{name}");
        }
        assert!(kept.exists());
    }
}
