//! The program under test, called as users call it: `tool.fuzz("ms_queue").native().rounds(200)` is
//! a command line, which `run`, `expect` and `json` execute.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use interlap::campaign::ledger::Ledger;
use interlap::finding::Stored;
use interlap::report::words::CONFIRMED;
use serde_json::Value;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

/// A directory to work in, with the program and one cache for all tests.
pub struct Tool {
    pub dir: TempDir,
}

/// A command line, not yet run.
#[must_use]
#[derive(Clone)]
pub struct Call<'a> {
    /// The folder to run in.
    folder: &'a Path,
    args: Vec<OsString>,
    /// Whether `fuzz` prints what it prints by default, and not all.
    is_brief: bool,
}

/// Exit status and output of a call, and the findings' directories below its `--out`.
pub struct Answer {
    pub status: i32,
    pub out: String,
    pub err: String,
    pub findings: Vec<PathBuf>,
}

/// Commands that take a target, a file or a finding.
macro_rules! commands {
    ($($name:ident)*) => { $(
        pub fn $name(&self, what: impl AsRef<OsStr>) -> Call<'_> {
            self.call(stringify!($name)).arg(what)
        }
    )* };
}

/// Options that take a number, by their names.
macro_rules! numbers {
    ($($name:ident)*) => { $(
        pub fn $name(self, number: u64) -> Self {
            self.args([concat!("--", stringify!($name)), &number.to_string()])
        }
    )* };
}

/// A file of `tests/data`.
pub fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

#[track_caller]
pub fn read(file: impl AsRef<Path>) -> String {
    let file = file.as_ref();
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

impl Tool {
    pub fn new() -> Tool {
        Tool { dir: tempfile::tempdir().expect("temp dir") }
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    pub fn read(&self, file: &str) -> String {
        read(self.path(file))
    }

    pub fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.path(file);
        std::fs::write(&path, text).expect("room");
        path
    }

    /// Writes an adapter and gives its path, which goes by its text: it is compiled once for all
    /// tests. A text that names the folder to work in is of one test alone.
    pub fn adapter(&self, file: &str, text: &str) -> PathBuf {
        if text.contains(&self.dir.path().display().to_string()) {
            return self.write(file, text);
        }
        let hash = format!("{:016x}", xxh3_64(text.as_bytes()));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adapters").join(hash);
        let path = folder.join(file);
        if !path.exists() {
            std::fs::create_dir_all(&folder).expect("room");
            // Another test may read it at the same time, which must not see half of it.
            let unnamed = tempfile::NamedTempFile::new_in(&folder).expect("room");
            std::fs::write(&unnamed, text).expect("room");
            unnamed.persist(&path).expect("room");
        }
        path
    }

    /// Any command line; spaces separate its words.
    pub fn call(&self, line: &str) -> Call<'_> {
        Call { folder: self.dir.path(), args: Vec::new(), is_brief: false }.with(line)
    }

    commands!(fuzz check replay shrink explain export show);

    /// Fuzzes an adapter of this text.
    pub fn fuzz_text(&self, file: &str, text: &str) -> Call<'_> {
        self.fuzz(self.adapter(file, text)).seed(1)
    }

    /// Runs a command line given as words, which may contain spaces.
    pub fn run(&self, args: &[&str]) -> Answer {
        self.call("").args(args).run()
    }

    /// The finding of a broken twin under control, shrunk: a copy of the one that is made for all
    /// tests of this process.
    pub fn twin(&self, twin: &str) -> PathBuf {
        static MADE: LazyLock<Mutex<HashMap<String, Arc<OnceLock<PathBuf>>>>> =
            LazyLock::new(Mutex::default);
        let made = MADE.lock().expect("no panic").entry(twin.to_string()).or_default().clone();
        let finding = made.get_or_init(|| shrunk_twin(twin));
        let copied = Command::new("cp").arg("-r").arg(finding).arg(self.dir.path()).status();
        assert!(copied.expect("cp").success(), "{}", finding.display());
        self.path(finding.file_name().and_then(OsStr::to_str).expect("UTF-8"))
    }

    /// The findings' directories below `findings`.
    pub fn findings(&self) -> Vec<PathBuf> {
        findings(&self.path("findings"))
    }

    /// What is stored of the run in `findings`.
    pub fn ledger(&self) -> Ledger {
        Ledger::load(&self.path("findings")).expect("a run")
    }

    /// The one finding's directory.
    pub fn only_finding(&self) -> PathBuf {
        only(&self.findings())
    }
}

/// Finds the bug of a twin and shrinks it, in a folder of this process. Those of processes that are
/// gone are removed.
fn shrunk_twin(twin: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("twins");
    for old in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(old.file_name()).exists() {
            // Another process may remove it at the same time.
            let _ = std::fs::remove_dir_all(old.path());
        }
    }
    let folder = all.join(std::process::id().to_string()).join(twin);
    std::fs::create_dir_all(&folder).expect("room");
    let tool = Tool::new();
    let run = tool.fuzz(twin).controlled().seed(5).rounds(20_000).findings(1).shrinking("60s");
    run.out(&folder).expect(1, &[CONFIRMED]).finding()
}

/// The findings' directories below a folder.
pub fn findings(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("entry").path()).filter(|path| path.is_dir()).collect()
}

#[track_caller]
fn only(findings: &[PathBuf]) -> PathBuf {
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings[0].clone()
}

impl<'a> Call<'a> {
    /// Runs it in this folder instead of the tool's.
    pub fn inside(self, folder: &'a Path) -> Self {
        Call { folder, ..self }
    }

    /// Any options; spaces separate their words.
    pub fn with(self, options: impl AsRef<str>) -> Self {
        self.args(options.as_ref().split_whitespace())
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_os_string()));
        self
    }

    pub fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    pub fn engine(self, name: &str) -> Self {
        self.args(["--engine", name])
    }

    pub fn controlled(self) -> Self {
        self.engine("controlled")
    }

    pub fn native(self) -> Self {
        self.engine("native")
    }

    pub fn carrier(self, name: &str) -> Self {
        self.args(["--carrier", name])
    }

    numbers!(seed rounds findings calls threads jobs);

    /// `--for`: the time limit, 10 minutes by default.
    pub fn within(self, time: &str) -> Self {
        self.args(["--for", time])
    }

    /// `--shrink`: the time to shrink findings, none by default.
    pub fn shrinking(self, time: &str) -> Self {
        self.args(["--shrink", time])
    }

    pub fn briefly(self) -> Self {
        Call { is_brief: true, ..self }
    }

    pub fn out(self, folder: impl AsRef<OsStr>) -> Self {
        self.arg("--out").arg(folder)
    }
}

impl Call<'_> {
    /// The command, for a test that starts it itself.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlap"));
        command.args(&self.args);
        let fuzzes = self.args.first().is_some_and(|command| command == "fuzz");
        // By default nothing is shrunk, and rounds and findings end a run, not the clock.
        for (option, value) in [("--shrink", "0"), ("--for", "10m")] {
            if fuzzes && !self.args.iter().any(|arg| arg == option) {
                command.args([option, value]);
            }
        }
        if fuzzes && !self.is_brief {
            command.arg("--verbose");
        }
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR"));
        command.current_dir(self.folder);
        command.env("INTERLAP_CACHE", kept.join("cache")).env("XDG_DATA_HOME", kept.join("data"));
        command
    }

    /// Starts it with both outputs piped.
    pub fn start(&self) -> Child {
        let mut command = self.command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    pub fn run(self) -> Answer {
        let output = self.command().output().expect("the program starts");
        let out = self.args.iter().position(|arg| arg == "--out").map(|at| &self.args[at + 1]);
        let folder = self.folder.join(out.map_or(OsStr::new("findings"), |out| out));
        Answer { findings: findings(&folder), ..Answer::from_output(output) }
    }

    /// Runs it, and asserts the exit status and that the output has all of `parts`.
    #[track_caller]
    pub fn expect(self, status: i32, parts: &[&str]) -> Answer {
        let answer = self.run();
        answer.expect(status, parts);
        answer
    }

    /// Runs it with `--json`, asserts the exit status, and gives what was printed.
    #[track_caller]
    pub fn json(self, status: i32) -> Value {
        self.with("--json").expect(status, &[]).json()
    }

    /// Runs it with `--json`, and asserts that there is no finding. Where the machine runs native
    /// threads one after the other, a short run ends with 3: hardly anything was tested.
    #[track_caller]
    pub fn finds_nothing(self) -> Answer {
        let answer = self.with("--json").run();
        let is_good = [0, 3].contains(&answer.status) && answer.json()["distinct_findings"] == 0;
        let reports = || answer.findings.iter().map(|of| read(of.join("report.txt")));
        assert!(is_good, "{}\n{}", answer.all(), reports().collect::<String>());
        answer
    }
}

impl Answer {
    /// From the output of a command that a test started itself; without findings.
    pub fn from_output(output: Output) -> Answer {
        Answer {
            status: output.status.code().expect("the program is never killed by a signal"),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            findings: Vec::new(),
        }
    }

    pub fn json(&self) -> Value {
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

    /// Asserts that the output does not have `part`.
    #[track_caller]
    pub fn lacks(&self, part: &str) -> &Answer {
        let all = self.all();
        assert!(!all.contains(part), "{part:?} in {all}");
        self
    }

    /// The directory of the only finding.
    #[track_caller]
    pub fn finding(&self) -> PathBuf {
        only(&self.findings)
    }

    /// The only finding, as it was saved.
    #[track_caller]
    pub fn stored(&self) -> Stored {
        Stored::load(&self.finding()).expect("a finding as it was written")
    }
}
