//! Finds an adapter by its bundled name or by the path of its source.
//! The error for an unknown name suggests similar names.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cache::IoError;
use super::compile::Language;
use super::head::{Head, model};
use super::includes::own_files;
use super::sources::{Bundled, Sources, Tree};

/// Where an adapter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    Bundled,
    /// Bundled, with a seeded bug.
    Broken,
    User,
}

/// An adapter: a source from which a target is compiled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Adapter {
    pub name: String,
    pub origin: Origin,
    pub source: PathBuf,
    pub head: Head,
}

impl Adapter {
    /// Its name in a plan. One of a user is named by its full path, so that the plan works from
    /// anywhere.
    pub fn plan_name(&self) -> String {
        match self.origin {
            Origin::User => self.source.display().to_string(),
            Origin::Bundled | Origin::Broken => self.name.clone(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("no target {name}{}; `interlap targets` lists all", did_you_mean(close))]
    Unknown { name: String, close: Vec<String> },
    #[error(
        "{}: an adapter is a C or C++ source (.c, .cc, .cpp, .cxx); `interlap new` writes one \
         to start from", path.display()
    )]
    NotASource { path: PathBuf },
    #[error("no file {}; `interlap new` writes an adapter to start from", path.display())]
    NoFile { path: PathBuf },
    #[error(transparent)]
    Io(#[from] IoError),
}

fn did_you_mean(close: &[String]) -> String {
    match close {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// The bundled adapters. Other adapters are found by their paths.
#[derive(Clone, Debug)]
pub struct Catalog {
    bundled: Vec<Adapter>,
}

impl Catalog {
    pub fn new(sources: Sources, tree: &Tree) -> Catalog {
        let adapter = |bundled: Bundled| {
            let source = tree.source(&bundled);
            let origin = if bundled.broken { Origin::Broken } else { Origin::Bundled };
            Adapter { name: bundled.name.to_string(), origin, source, head: bundled.head }
        };
        Catalog { bundled: sources.bundled().into_iter().map(adapter).collect() }
    }

    /// All bundled ones, to be listed.
    pub fn bundled(&self) -> impl Iterator<Item = Adapter> {
        self.bundled.iter().map(with_model)
    }

    /// The adapter with this name, or at this path. A path has a slash or an extension; no bundled
    /// name has either.
    pub fn find(&self, name_or_path: &str) -> Result<Adapter, FindError> {
        if let Some(adapter) = self.bundled.iter().find(|adapter| adapter.name == name_or_path) {
            return Ok(with_model(adapter));
        }
        let path = Path::new(name_or_path);
        if name_or_path.contains('/') || path.extension().is_some() {
            return user_adapter(path);
        }
        Err(FindError::Unknown {
            name: name_or_path.to_string(),
            close: self.similar(name_or_path),
        })
    }

    /// Up to three similar names, the closest first: few letters differ, or the name is a part.
    fn similar(&self, name: &str) -> Vec<String> {
        let wanted = name.to_lowercase();
        let mut found: Vec<(usize, &str)> = self
            .bundled
            .iter()
            .filter_map(|adapter| {
                let distance = strsim::damerau_levenshtein(&wanted, &adapter.name);
                let is_part = wanted.len() >= 3 && adapter.name.contains(&wanted);
                (is_part || distance <= 1 + wanted.len() / 4).then_some((distance, &*adapter.name))
            })
            .collect();
        found.sort_unstable();
        found.into_iter().take(3).map(|(_, name)| name.to_string()).collect()
    }
}

fn user_adapter(path: &Path) -> Result<Adapter, FindError> {
    Language::from_path(path).map_err(|_| FindError::NotASource { path: path.to_path_buf() })?;
    if !path.exists() {
        return Err(FindError::NoFile { path: path.to_path_buf() });
    }
    let text = fs::read(path).map_err(IoError::at(path))?;
    let source = fs::canonicalize(path).map_err(IoError::at(path))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let head = Head::parse(&String::from_utf8_lossy(&text));
    Ok(with_model(&Adapter { name, origin: Origin::User, source, head }))
}

/// Adds the model from a shared header, in which adapters of one structure declare it. The model is
/// only for listings, so errors in reading headers are ignored.
fn with_model(adapter: &Adapter) -> Adapter {
    let Adapter { head, source, .. } = adapter;
    let of_headers = || own_files(source).ok()?.iter().find_map(|(_, text)| model(text));
    let head = Head { model: head.model.clone().or_else(of_headers), ..head.clone() };
    Adapter { head, ..adapter.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::cache::Cache;

    const SOURCES: &[(&str, &str)] = &[
        ("targets/moodycamel.cpp", "// A queue.\n// Guarantee: FIFO per producer."),
        ("targets/boost_queue.cpp", "// Another."),
        (
            "targets/broken/treiber_aba.cpp",
            "// A stack.\n// Bug: no tags.\n#include \"../stack.hpp\"",
        ),
        ("targets/stack.hpp", "static constexpr auto model = \"lifo\";"),
    ];

    fn catalog(folder: &Path) -> Catalog {
        let sources = Sources::new(SOURCES);
        let cache = Cache::at(folder).expect("cache");
        Catalog::new(sources, &sources.materialise(&cache).expect("tree"))
    }

    #[test]
    fn bundled_adapters_are_found_by_name() {
        let folder = tempfile::tempdir().expect("temp folder");
        let catalog = catalog(folder.path());
        let found = catalog.find("moodycamel").expect("bundled");
        assert_eq!(found.origin, Origin::Bundled);
        assert_eq!(found.head.guarantee.as_deref(), Some("FIFO per producer."));
        assert!(found.source.is_file());
        let broken = catalog.find("treiber_aba").expect("broken");
        assert_eq!(broken.origin, Origin::Broken);
        assert_eq!(broken.head.model.as_deref(), Some("lifo"), "from the shared header");
    }

    #[test]
    fn an_unknown_name_gets_similar_names() {
        let folder = tempfile::tempdir().expect("temp folder");
        let catalog = catalog(folder.path());
        for (wrong, right) in
            [("modycamel", "moodycamel"), ("Boost", "boost_queue"), ("treiber", "treiber_aba")]
        {
            let message = catalog.find(wrong).expect_err("unknown").to_string();
            assert!(message.contains(&format!("did you mean {right}?")), "{message}");
            assert!(message.contains("`interlap targets`"), "{message}");
        }
        let message = catalog.find("zzz").expect_err("unknown").to_string();
        assert!(!message.contains("did you mean"), "{message}");
    }

    #[test]
    fn adapters_of_users_are_found_by_path() {
        let folder = tempfile::tempdir().expect("temp folder");
        let catalog = catalog(folder.path());
        let path = folder.path().join("mine.cc");
        let name = path.to_str().expect("UTF-8");
        let error = catalog.find(name).expect_err("not yet there");
        assert!(matches!(error, FindError::NoFile { .. }), "{error}");
        fs::write(&path, "// My own.\nstatic constexpr auto model = \"lifo\";").expect("write");
        let found = catalog.find(name).expect("there");
        assert_eq!((found.name.as_str(), found.origin), ("mine", Origin::User));
        assert_eq!(found.head.model.as_deref(), Some("lifo"));
        let error = catalog.find("build/libmine.so").expect_err("not a source");
        assert!(error.to_string().contains("interlap new"), "{error}");
    }
}
