//! Finds the programs that interlap calls: compilers, debugger, recorder.
//! A fact about a missing one says what to install.

use std::process::{Command, Stdio};

use super::{Availability, Fact};
use crate::adapter::compile::{Language, Toolchain};
use crate::process::rr::{Rr, probe};

/// The program, its Debian package, and the verdict and the consequence if it is missing.
const PROGRAMS: [(&str, &str, Availability, &str); 3] = [
    ("g++", "g++", Availability::Note, "not needed where another compiler is"),
    ("clang++", "clang", Availability::Note, "not needed where another compiler is"),
    ("gdb", "gdb", Availability::No, "`interlap replay --gdb` needs it"),
];

pub(super) fn facts(toolchain: &Toolchain) -> Vec<Fact> {
    let chosen = [("C++", Language::Cpp), ("C", Language::C)].map(|(topic, language)| {
        match toolchain.compiler(language) {
            Ok(compiler) => Fact::new(topic, Availability::Yes, compiler.identity()),
            Err(error) => Fact::new(topic, Availability::No, error.to_string()),
        }
    });
    let others = PROGRAMS.map(|(name, package, absent, loss)| match version(name) {
        Some(version) => Fact::new(name, Availability::Yes, version),
        None => missing(name, package, absent, loss),
    });
    chosen.into_iter().chain(others).collect()
}

/// Whether rr records here, or its message if not.
pub(super) fn recorder(rr: &Rr) -> Fact {
    match probe::probe(rr) {
        Ok(version) => Fact::new("rr", Availability::Yes, format!("{version}: records here")),
        Err(refusal) => {
            let says = refusal.says.lines().next().unwrap_or_default();
            let advice = format!("for `--engine rr`. {}", refusal.advice);
            Fact::new("rr", Availability::Note, format!("cannot record here: {says}"))
                .advise(advice)
        }
    }
}

fn missing(name: &'static str, package: &str, absent: Availability, loss: &str) -> Fact {
    let advice = format!("{loss}; apt-get install {package}");
    Fact::new(name, absent, "not found").advise(advice)
}

/// The first line of the program's `--version`.
fn version(name: &str) -> Option<String> {
    let mut command = Command::new(name);
    let output = command.arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_says_what_to_install() {
        assert_eq!(version("interlap-no-such-program"), None);
        let fact = missing("gdb", "gdb", Availability::No, "`interlap replay --op` needs it");
        assert_eq!(
            fact.advice.as_deref(),
            Some("`interlap replay --op` needs it; apt-get install gdb")
        );
    }

    #[test]
    fn a_program_that_is_there_says_its_version() {
        let line = version("cc").expect("the compiler that built this");
        assert!(line.contains(|c: char| c.is_ascii_digit()) && !line.contains('\n'), "{line}");
    }
}
