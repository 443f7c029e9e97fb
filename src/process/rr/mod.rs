//! The recorder rr: its command lines, recordings and replays.
//!
//! - `locate`: Locates calls in a recording, by a replay that stops at the markers of their stamps.
//! - `probe`: Tests whether rr can record on this machine, and advises what to do if not.
//! - `recording`: A recording of rr: a directory that is removed with its owner, unless it is kept.
//! - `replay`: Replays a recording: as a whole, to get its standard output, or in a debugger.
//! - `script`: Makes the commands with which gdb stops at calls in a replay.

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
    pub fn new(recorder: &plan::Recorder) -> Rr {
        Rr { program: recorder.program.clone(), args: recorder.args.clone() }
    }

    pub fn program(&self) -> &str {
        &self.program
    }

    /// The words that precede a command line to record it in chaos mode, with time slices of at
    /// most `ticks` (0: rr's own limit), into a directory that does not exist yet.
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

    /// A subcommand, without standard input.
    fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg(subcommand).stdin(Stdio::null());
        command
    }

    /// The command line of `rr replay` without the target's output. The debugger first reads
    /// `script`, before rr is connected to it. The replay begins after `event`, or at the start.
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

/// The words as a line for a shell.
pub fn shell_line(words: &[OsString]) -> String {
    words.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rr() -> Rr {
        let recorder = plan::Recorder { args: vec!["-W".into()], ..plan::Recorder::default() };
        Rr::new(&recorder)
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
