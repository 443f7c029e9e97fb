//! The recorder rr. What the user said of it comes in; its command lines, what it can do on this
//! machine ([`probe`]), its recordings ([`recording`]) and where in one of them something happened
//! ([`locate`], [`replay`]) go out. Does not know what is recorded.
//!
//! - `locate`: The second pass over a recording: the boxes of some calls come in, when in the
//!   recording each began and ended goes out.
//! - `probe`: Whether rr can record on this machine.
//! - `recording`: A recording of rr: a directory that is removed with its owner, unless it is kept.
//! - `replay`: Replays of a recording: one that runs through and hands out what the recorded
//!   process wrote to its standard output, and one in a debugger.
//! - `script`: What gdb is told about a recording: the boxes of some calls come in, gdb commands go
//!   out.

pub mod locate;
pub mod probe;
pub mod recording;
pub mod replay;
pub mod script;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::core::plan;
use crate::core::plan::quoted;

/// rr with its global options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rr {
    program: String,
    args: Vec<String>,
}

impl Rr {
    pub fn of(recorder: &plan::Recorder) -> Rr {
        Rr { program: recorder.program.clone(), args: recorder.args.clone() }
    }

    pub fn program(&self) -> &str {
        &self.program
    }

    /// What comes before the words of a program to be recorded in chaos mode, with time slices of
    /// at most `ticks` (0: rr's own limit), into a directory that does not exist yet.
    pub fn record_words(&self, ticks: u64, directory: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.program.clone().into()];
        words.extend(self.args.iter().map(OsString::from));
        words.extend(["record", "--chaos"].map(OsString::from));
        if ticks > 0 {
            words.extend(["-c".into(), ticks.to_string().into()]);
        }
        words.extend(["-o".into(), directory.as_os_str().to_owned(), "--".into()]);
        words
    }

    /// A subcommand, with nothing to read.
    fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg(subcommand).stdin(Stdio::null());
        command
    }

    /// The words of `rr replay` without the target's output, for a debugger that first reads
    /// `script` (before rr is connected to it). `event`: begin after it; none: at the start.
    pub fn replay_words(
        &self,
        event: Option<u64>,
        script: Option<&Path>,
        recording: &Path,
    ) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.program.clone().into()];
        words.extend(self.args.iter().map(OsString::from));
        words.extend(["replay", "-q"].map(OsString::from));
        if let Some(event) = event {
            words.extend(["-g".into(), event.to_string().into()]);
        }
        if let Some(script) = script {
            words.extend(["-x".into(), script.as_os_str().to_owned()]);
        }
        words.push(recording.as_os_str().to_owned());
        words
    }
}

/// The words as a shell needs them.
pub fn shell_line(words: &[OsString]) -> String {
    words.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rr() -> Rr {
        let recorder = plan::Recorder { args: vec!["-W".into()], ..plan::Recorder::default() };
        Rr::of(&recorder)
    }

    #[test]
    fn chaos_is_always_on_and_rrs_own_limit_is_no_option() {
        let words = |ticks| shell_line(&rr().record_words(ticks, Path::new("a dir/trace")));
        assert_eq!(words(100), "rr -W record --chaos -c 100 -o 'a dir/trace' --");
        assert_eq!(words(0), "rr -W record --chaos -o 'a dir/trace' --");
    }

    #[test]
    fn a_replay_takes_the_global_options_too() {
        let words = rr().replay_words(Some(7), Some(Path::new("x.gdb")), Path::new("it's"));
        assert_eq!(shell_line(&words), r"rr -W replay -q -g 7 -x x.gdb 'it'\''s'");
    }
}
