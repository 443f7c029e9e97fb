//! The program under test, called as users call it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A directory to work in, with the program and one cache for all tests.
pub struct Tool {
    pub dir: TempDir,
}

/// What a call of the program gave back.
pub struct Answer {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Tool {
    pub fn new() -> Tool {
        Tool { dir: tempfile::tempdir().expect("temp dir") }
    }

    /// Writes an adapter and gives its path.
    pub fn adapter(&self, file: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(file);
        std::fs::write(&path, text).expect("adapter");
        path
    }

    /// Findings are shrunk only where the test asks for it: it takes seconds.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlap"));
        let unasked = args.first() == Some(&"fuzz") && !args.contains(&"--shrink");
        let more = if unasked { &["--shrink", "0"][..] } else { &[] };
        let args = args.iter().chain(more);
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        command.args(args).current_dir(self.dir.path()).env("INTERLAP_CACHE", cache);
        command
    }

    pub fn run(&self, args: &[&str]) -> Answer {
        Answer::of(self.command(args).output().expect("the program starts"))
    }

    /// `interlap fuzz` of an adapter's text, with a run short enough for a test.
    pub fn fuzz(&self, file: &str, text: &str, more: &[&str]) -> Answer {
        let path = self.adapter(file, text);
        let mut args = vec!["fuzz", path.to_str().expect("UTF-8"), "--seed", "1"];
        args.extend(more);
        self.run(&args)
    }

    /// The findings' directories.
    pub fn findings(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.dir.path().join("findings")).expect("findings");
        let paths = entries.map(|entry| entry.expect("entry").path());
        paths.filter(|path| path.is_dir()).collect()
    }

    /// The one finding's directory.
    pub fn only_finding(&self) -> PathBuf {
        let mut paths = self.findings();
        assert_eq!(paths.len(), 1, "{paths:?}");
        paths.remove(0)
    }
}

impl Answer {
    pub fn of(output: Output) -> Answer {
        Answer {
            status: output.status.code().expect("the program is never killed by a signal"),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.all()))
    }

    pub fn all(&self) -> String {
        format!("status {}\n--- out\n{}\n--- err\n{}", self.status, self.out, self.err)
    }

    /// Asserts the exit status and that the output has all of `parts`.
    #[track_caller]
    pub fn expect(&self, status: i32, parts: &[&str]) -> &Answer {
        let all = self.all();
        assert_eq!(self.status, status, "{all}");
        for part in parts {
            assert!(all.contains(part), "no {part:?} in {all}");
        }
        self
    }
}
