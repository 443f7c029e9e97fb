//! The errors of compiling an adapter, each with advice and the compiler's own messages.

use std::path::PathBuf;
use std::process::ExitStatus;

use super::Language;
use crate::adapter::cache::IoError;
use crate::adapter::packages;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "no {} compiler: {}: {reason}; apt-get install {}, or set {} to one",
        language.names().0, program.display(), language.names().2, language.names().1
    )]
    NoCompiler { language: Language, program: PathBuf, reason: String },
    #[error("{}: not a C or C++ source (.c, .cc, .cpp, .cxx)", path.display())]
    NotASource { path: PathBuf },
    #[error(
        "{place}: no file {}; a path in the head of an adapter is from the adapter's folder, \
         a path of the command line from the current one", path.display()
    )]
    MissingFile { path: PathBuf, place: String },
    #[error("{flag} cannot be used with interlap: {why}; leave it out")]
    UnsupportedFlag { flag: String, why: &'static str },
    #[error("{output}\nheader {header} not found; {}", packages::advice_for_header(header))]
    MissingHeader { header: String, package: Option<&'static str>, output: String },
    #[error("{output}\nlibrary {library} not found; {}", packages::advice_for_library(library))]
    MissingLibrary { library: String, package: Option<&'static str>, output: String },
    #[error(
        "{output}\nthe compiler failed ({status}); in one line, to try by hand:\n  {command}{}",
        advice(output)
    )]
    Failed { output: String, command: String, status: ExitStatus },
    #[error(
        "{output}\nthe disk is full; free some space in the cache folder and the temp folder, or \
         set INTERLAP_CACHE and TMPDIR to folders on another disk"
    )]
    DiskFull { output: String },
    #[error(transparent)]
    Io(#[from] IoError),
}

/// Recognizes the kind of failure from the compiler's output.
pub(super) fn diagnose(output: String, command: String, status: ExitStatus) -> Error {
    if output.contains("No space left on device") {
        return Error::DiskFull { output };
    }
    if let Some(header) = output.lines().find_map(missing_header) {
        let header = header.to_string();
        return Error::MissingHeader { package: packages::of_header(&header), header, output };
    }
    if let Some(library) = output.lines().find_map(missing_library) {
        let library = library.to_string();
        return Error::MissingLibrary { package: packages::of_library(&library), library, output };
    }
    Error::Failed { output, command, status }
}

/// What to do about undefined symbols: their names do not say which library is missing.
pub const MISSING_DEFINITION: &str = "\
    a library is missing: pass -l NAME, or write a line `// interlap: -lNAME` into the comment at \
    the top of the adapter; or have its sources compiled along, by a line \
    `// interlap: source ../src/NAME.cpp`";

/// What to do about an archive or an object that cannot be part of a shared library.
const NOT_PIC: &str = "\
    what is linked here becomes a shared library, so that an archive or an object must be compiled \
    with -fPIC. Compile it so, or link the library's .so, or have its sources compiled along, with \
    hooks of the controlled engine, by a line `// interlap: source ../src/NAME.cpp`";

/// What to do about code that calls hooks where there are none.
const HOOKED: &str = "\
    code that is linked here was compiled with -fsanitize=thread, and calls functions that only \
    the controlled engine has: use --engine controlled, or link a build without that flag";

/// Whether a linker or loader misses the hooks that code compiled with -fsanitize=thread calls.
pub fn lacks_hooks(output: &str) -> bool {
    output.contains("`__tsan_") || output.contains("symbol: __tsan_")
}

fn advice(output: &str) -> String {
    let says = |mark: &str| output.contains(mark);
    match () {
        _ if says("recompile with -fPIC") => format!("\n{NOT_PIC}"),
        _ if lacks_hooks(output) => format!("\n{HOOKED}"),
        _ if says("undefined reference to") || says("undefined symbol") => {
            format!("\n{MISSING_DEFINITION}")
        }
        _ => String::new(),
    }
}

/// The header that a line reports as missing. The compiler reports other missing files and programs
/// in the same words, but without a place in a source or on the command line.
fn missing_header(line: &str) -> Option<&str> {
    let (place, message) = line.split_once(": fatal error: ")?;
    let is_of_source = place.ends_with(|c: char| c.is_ascii_digit());
    if !is_of_source && !["<command-line>", "<built-in>"].contains(&place) {
        return None;
    }
    if let Some(header) = message.strip_suffix(": No such file or directory") {
        return (!header.starts_with("opening ") && !header.starts_with("cannot "))
            .then_some(header);
    }
    // clang
    message.strip_suffix(" file not found")?.strip_prefix('\'')?.strip_suffix('\'')
}

/// The library that a line of GNU ld, gold, lld or mold reports as missing.
fn missing_library(line: &str) -> Option<&str> {
    let marks = ["cannot find -l", "unable to find library -l", "library not found: "];
    let rest = marks.iter().find_map(|mark| line.split_once(mark))?.1;
    rest.split([':', ' ']).next()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn diagnosed(output: &str) -> Error {
        let command = "g++ 'a b.cpp'".to_string();
        diagnose(output.to_string(), command, ExitStatus::from_raw(256))
    }

    #[test]
    fn a_missing_header_is_recognised_from_gcc_and_clang() {
        for output in [
            "q.cpp:3:10: fatal error: boost/lockfree/queue.hpp: No such file or directory",
            "q.cpp:3:10: fatal error: 'boost/lockfree/queue.hpp' file not found",
        ] {
            let Error::MissingHeader { header, package, .. } = diagnosed(output) else {
                panic!("{output}");
            };
            assert_eq!(header, "boost/lockfree/queue.hpp");
            assert_eq!(package, Some("libboost-dev"));
        }
    }

    #[test]
    fn other_missing_files_are_not_taken_for_headers() {
        for output in [
            "g++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory",
            "g++: fatal error: cannot read spec file 'x': No such file or directory",
            "cc1plus: fatal error: q.cpp: No such file or directory",
            "q.cpp:1:6: fatal error: opening dependency file /x/y.d: No such file or directory",
            "q.cpp:9:1: fatal error: cannot open q.gcno: No such file or directory",
        ] {
            let error = diagnosed(output);
            assert!(matches!(error, Error::Failed { .. }), "{error}");
        }
        let error = diagnosed("<command-line>: fatal error: x.h: No such file or directory");
        assert!(matches!(error, Error::MissingHeader { header, .. } if header == "x.h"));
    }

    #[test]
    fn a_missing_library_is_recognised_from_every_linker() {
        for output in [
            "/usr/bin/ld: cannot find -lcds: No such file or directory",
            "/usr/bin/ld: cannot find -lcds",
            "ld.lld: error: unable to find library -lcds",
            "mold: fatal: library not found: cds",
        ] {
            let error = diagnosed(output);
            assert!(error.to_string().contains("apt-get install libcds-dev"), "{error}");
        }
    }

    #[test]
    fn anything_else_is_shown_with_the_command() {
        let error = diagnosed("q.cpp:1: error: no");
        assert!(error.to_string().starts_with("q.cpp:1: error: no\n"));
        assert!(error.to_string().ends_with("g++ 'a b.cpp'"), "{error}");
        let error = diagnosed("q.cpp:3: undefined reference to `cds_init'");
        assert!(error.to_string().ends_with(MISSING_DEFINITION), "{error}");
        let error = diagnosed(
            "/usr/bin/ld: x.a(x.o): relocation R_X86_64_32 against `.rodata' can not be used when \
             making a shared object; recompile with -fPIC",
        );
        assert!(error.to_string().ends_with(NOT_PIC), "{error}");
    }
}
