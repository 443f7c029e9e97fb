//! What a command's exit status says: nothing found, found, not decided, or an error.

use serde::Serialize;

/// How a command ended. Its number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    NothingFound = 0,
    Found = 1,
    /// Limits were reached before an answer was.
    NotDecided = 3,
}

/// Exit status of a usage or input/output error.
pub const ERROR_STATUS: u8 = 2;
