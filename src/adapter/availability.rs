//! Finds the missing headers of an adapter, with advice, without compiling it.
//! Installed headers are assumed to be complete: their own includes are not followed.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::cache::IoError;
use super::compile::{Error, Request, Toolchain};
use super::includes::{includes, own_files};
use super::packages;

/// A header that is in no folder of the search path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingHeader {
    pub header: String,
    pub package: Option<&'static str>,
    /// How to get it.
    pub advice: String,
}

/// The headers that compiling the request would not find, by name. An error concerns the files
/// themselves or the compiler.
pub fn missing_headers(
    toolchain: &Toolchain,
    request: &Request,
) -> Result<Vec<MissingHeader>, Error> {
    let search_path = toolchain.search_path(request)?;
    let source = fs::canonicalize(&request.source).map_err(IoError::at(&request.source))?;
    let mut missing = BTreeSet::new();
    for (file, text) in own_files(&source)? {
        for include in includes(&text) {
            let is_found = include.beside(&file).is_some()
                || search_path.iter().any(|folder| folder.join(&include.name).is_file());
            if !is_found {
                missing.insert(include.name);
            }
        }
    }
    Ok(missing.into_iter().map(MissingHeader::new).collect())
}

/// The known packages of the system headers that this request includes, and of the libraries that
/// it is linked with.
pub fn packages_in_use(
    toolchain: &Toolchain,
    request: &Request,
) -> Result<BTreeSet<&'static str>, Error> {
    let search_path = toolchain.search_path(request)?;
    let source = fs::canonicalize(&request.source).map_err(IoError::at(&request.source))?;
    let linked = request.flags.iter().filter_map(|flag| flag.strip_prefix("-l"));
    let linked = linked.chain(request.libraries.iter().map(String::as_str));
    let mut packages: BTreeSet<_> = linked.filter_map(packages::of_library).collect();
    for (_, text) in own_files(&source)? {
        for include in includes(&text) {
            let folder = search_path.iter().find(|folder| folder.join(&include.name).is_file());
            if folder.is_some_and(|folder| folder.starts_with("/usr")) {
                packages.extend(packages::of_header(&include.name));
            }
        }
    }
    Ok(packages)
}

/// The installed ones of the packages, with their versions: "libcds-dev 2.3.3-2".
pub fn installed(packages: &BTreeSet<&str>) -> Vec<String> {
    if packages.is_empty() {
        return Vec::new();
    }
    let mut command = Command::new("dpkg-query");
    command.args(["-W", "-f", "${Package} ${Version}\\n"]).args(packages);
    // Only Debian and its relatives have this program. Elsewhere the list is empty.
    let output = command.stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().map(str::to_string).collect()
}

impl MissingHeader {
    fn new(header: String) -> MissingHeader {
        let package = packages::of_header(&header);
        MissingHeader { package, advice: packages::advice_for_header(&header), header }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::cache::Cache;
    use crate::adapter::sources::Sources;

    #[test]
    fn missing_headers_are_listed_with_their_packages() {
        let folder = tempfile::tempdir().expect("temp folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("folder")).expect("folder");
            fs::write(path, text).expect("write");
        };
        write("q.cpp", "#include <interlap.hpp>\n#include <vector>\n#include \"sub/near.hpp\"\n");
        write("sub/near.hpp", "#include <urcu/not_there.h>\n#include \"mine.hpp\"\n");
        let cache = Cache::at(folder.path().join("cache")).expect("cache");
        let toolchain = Toolchain::new(cache, Sources::EMBEDDED).expect("toolchain");
        let request = Request { source: folder.path().join("q.cpp"), ..Request::default() };
        let missing = missing_headers(&toolchain, &request).expect("readable");
        let [mine, urcu] = &missing[..] else { panic!("{missing:?}") };
        assert_eq!((mine.header.as_str(), mine.package), ("mine.hpp", None));
        assert!(mine.advice.contains("-I DIR"), "{}", mine.advice);
        assert_eq!(urcu.package, Some("liburcu-dev"));
        write("elsewhere/mine.hpp", "");
        write("elsewhere/urcu/not_there.h", "");
        let include_dirs = vec![folder.path().join("elsewhere")];
        let request = Request { include_dirs, ..request };
        assert_eq!(missing_headers(&toolchain, &request).expect("readable"), []);
    }
}
