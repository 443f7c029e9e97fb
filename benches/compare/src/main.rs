//! interlap's checker and porcupine-rs side by side, in one process, on the same histories: CPU
//! seconds and peak memory beyond the history, both per history and per operation.
//!
//! `make compare` (ARGS="450000 50000 FOLDER"): the most operations that are checked, the most that
//! porcupine-rs is given (its memory grows with the square), and where histories in files are:
//! Jepsen's etcd logs `etcd_*.log`, and Porcupine's key-value tests `c10-ok.txt`, `c10-bad.txt`.

use std::path::{Path, PathBuf};

use compare::memory::{Counting, Measured, measure};
use compare::peer;
use compare::simulate::{Profile, ranges};
use interlap::check::{Limits, Verdict, check, search};
use interlap::core::history::History;
use interlap::exchange::{self, Options};
use interlap::model::Spec;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is asked for on the command line.
struct Wanted {
    operations_max: usize,
    peer_max: usize,
    folder: PathBuf,
}

fn wanted() -> Wanted {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--");
    let mut number =
        |default| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (operations_max, peer_max) = (number(450_000), number(50_000));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/histories/porcupine");
    Wanted { operations_max, peer_max, folder: arguments.next().map_or(own, PathBuf::from) }
}

/// A generous limit: what is measured is how long it takes.
fn limits() -> Limits {
    Limits { steps_max: u64::MAX, ..Limits::default() }
}

fn row(name: &str, operations: usize, ours: &Measured<bool>, peer: Option<&Measured<bool>>) {
    let cells = |measured: &Measured<bool>| {
        let (seconds, mib) = (measured.seconds, measured.bytes as f64 / (1 << 20) as f64);
        let each = measured.bytes as f64 / operations.max(1) as f64;
        format!("{seconds:>10.4} {mib:>9.1} {each:>9.0}")
    };
    let missing = || format!("{:>10} {:>9} {:>9}", "-", "-", "-");
    println!("{name:36} {operations:>8} {} {}", cells(ours), peer.map_or_else(missing, cells));
    if let Some(peer) = peer {
        assert_eq!(ours.value, peer.value, "{name}: the two disagree");
    }
}

fn head(title: &str) {
    let columns = format!("{:>10} {:>9} {:>9}", "CPU s", "MiB", "B/op");
    println!("\n{title:36} {:>8} {columns} {columns}", "ops");
    println!("{:46} {:>29} {:>29}", "", "interlap", "porcupine-rs");
}

fn explained(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Consistent => true,
        Verdict::Violation(_) => false,
        Verdict::Inconclusive(why) => panic!("not decided: {why:?}"),
    }
}

/// Histories like those of the OmniLink paper's RQ3: a set of 11 keys with range counts.
fn research_question_3(wanted: &Wanted) {
    let spec: Spec = "range-set".parse().expect("a model");
    head("RQ3: set with range counts");
    let compare = |threads: usize, operations: usize, profile: Profile, bad: bool| {
        let history = ranges(threads, operations, profile, bad, 7);
        let ours = measure(|| explained(check(&history, &spec, &limits())));
        assert_eq!(ours.value, !bad);
        // A bad history of many threads takes it minutes and gigabytes.
        let able = operations <= wanted.peer_max && (threads <= 10 || !bad && threads <= 20);
        let peer = able.then(|| peer::ranges(&history));
        let name = format!("{profile} {threads} threads, {}", if bad { "bad" } else { "ok" });
        row(&name, history.len(), &ours, peer.as_ref());
    };
    for operations in [500, 10_000, 50_000, 100_000, 200_000, 450_000] {
        for (profile, bad) in Profile::each().filter(|_| operations <= wanted.operations_max) {
            compare(5, operations, profile, bad);
        }
    }
    for threads in [1, 5, 10, 20, 30, 40, 50] {
        Profile::each().for_each(|(profile, bad)| compare(threads, 100 * threads, profile, bad));
    }
}

fn load(path: &Path) -> Option<(History, Spec)> {
    let format = exchange::detect(path).ok()?;
    let options = Options { model: None, initial: None };
    let imported = exchange::read(path, format, &options).ok()?;
    Some((imported.history, imported.model?))
}

/// Porcupine's key-value histories: the general search on the whole, then key by key.
fn key_value(folder: &Path) {
    head("kv");
    for name in ["c10-ok.txt", "c10-bad.txt"] {
        let Some((history, spec)) = load(&folder.join(name)) else {
            println!("{name}: not in {}", folder.display());
            continue;
        };
        // The peer comes last: what it leaves of the heap is slow to allocate from.
        let whole = measure(|| explained(search(&history, &spec, &limits())));
        let parts = measure(|| explained(check(&history, &spec, &limits())));
        let peer = peer::strings(&history);
        row(&format!("{name}, no partition"), history.len(), &whole, Some(&peer));
        row(&format!("{name}, by key; peer without"), history.len(), &parts, Some(&peer));
        println!(
            "{:36} {:>8.1} times as fast without partition, {:.1} with",
            "",
            peer.seconds / whole.seconds,
            peer.seconds / parts.seconds
        );
    }
}

/// Jepsen's etcd logs, all of them together.
fn etcd(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    paths.sort();
    let histories: Vec<(History, Spec)> = paths.iter().filter_map(|path| load(path)).collect();
    let operations = histories.iter().map(|(history, _)| history.len()).sum();
    head("etcd logs (register)");
    let count = |all: Vec<bool>| -> bool {
        println!("{} of {} explained", all.iter().filter(|one| **one).count(), all.len());
        all.iter().all(|one| *one)
    };
    let check = |(history, spec): &(History, Spec)| explained(check(history, spec, &limits()));
    let ours = measure(|| histories.iter().map(check).collect::<Vec<_>>());
    let peer = peer::registers(&histories);
    assert_eq!(ours.value, peer.value, "the two disagree");
    let name = format!("{} logs", histories.len());
    row(&name, operations, &ours.map(count), Some(&peer.map(|all| all.iter().all(|one| *one))));
}

fn main() {
    let wanted = wanted();
    key_value(&wanted.folder);
    etcd(&wanted.folder);
    research_question_3(&wanted);
}
