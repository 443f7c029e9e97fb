//! Options of `interlap triage`, and the shared options for continuous integration.

use std::path::PathBuf;

use clap::Args;

use super::Format;

pub const TRIAGE_EXAMPLES: &str = "\
Examples:
  interlap triage                                 what is in findings/, each bug once
  interlap triage findings/treiber_aba-91c2 --add \"ABA in pop\" --known known.toml
  interlap triage --known known.toml              1 only if there is something else
  interlap fuzz treiber_aba --known known.toml    goes on past what is known
  interlap triage a b c --known known.toml --junit junit.xml --sarif findings.sarif

A file of known issues; all patterns of an entry must fit, `*` stands for anything (docs/triage.md):
  [[known]]
  name = \"ABA in pop\"
  issue = \"https://example.org/issues/7\"
  target = \"treiber_*\"
  rule = \"taken-twice\"                or: fault = \"use-after-free\"
  operations = [\"push\", \"pop\"]         none but these are part of the violation
  line = \"stack.hpp:30-42\"             or: function = \"Stack::pop\"

`also seen as`: most likely the bug of the line above, because threads were stopped between the same
lines. Each finding is counted by itself.

Exit status: 0 if all findings are known or there are none, 1 if one is new, 2 for an error.";

/// Known issues, and reports for other programs.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Known issues and continuous integration")]
pub struct Ci {
    /// File of known issues (TOML; example in `interlap triage --help`): a finding that matches one
    /// gets its name and does not count for the exit status
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,
    /// Write JUnit XML; -: to standard output, and nothing else
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write SARIF 2.1.0 with source lines where they are known; -: to standard output
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Triage {
    /// Directories of findings or of runs, or directories that contain them
    #[arg(value_name = "DIR", default_value = "findings")]
    pub directories: Vec<PathBuf>,
    /// Write an entry with this name for the one finding: appended to the file of --known, or else
    /// to standard output
    #[arg(long, value_name = "NAME", conflicts_with_all = ["junit", "sarif", "json"])]
    pub add: Option<String>,
    /// With --add: link to the issue
    #[arg(long, value_name = "URL", requires = "add")]
    pub issue: Option<String>,
    #[command(flatten)]
    pub format: Format,
    #[command(flatten)]
    pub ci: Ci,
}
