//! The test data of Porcupine and the verdicts of its tests. The whole folder is checked by
//!
//! ```text
//! INTERLAP_HISTORIES=FOLDER \
//!     cargo test --test it every_history_of_porcupine_has_its_verdict -- --ignored --nocapture
//! ```
//! where FOLDER has `etcd/etcd_000.log` to `etcd_102.log`, and `kv/c01-ok.txt` and its siblings.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use interlap::check::Verdict;
use interlap::exchange::Format;

use super::{calls_and_answers, is_good, read, through, verdict};

/// The etcd logs that are linearizable; number 95 is empty, the other 79 are not.
const GOOD: [u32; 23] =
    [2, 5, 7, 18, 25, 31, 38, 45, 48, 49, 51, 53, 56, 67, 75, 76, 80, 87, 92, 98, 100, 101, 102];

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/histories/porcupine").join(file)
}

#[test]
fn etcd_logs_have_their_verdicts() {
    for number in [0, 2, 5, 67, 97, 102] {
        let imported = read(&data(&format!("etcd_{number:03}.log")));
        assert!(imported.history.len() > 50, "{number}");
        assert_eq!(is_good(&imported), GOOD.contains(&number), "{number}");
        for format in [Format::Jsonl, Format::Events, Format::JepsenLog] {
            let again = through(&imported, format);
            assert_eq!(is_good(&again), GOOD.contains(&number), "{number} as {format:?}");
        }
        assert_eq!(
            calls_and_answers(&through(&imported, Format::JepsenLog)),
            calls_and_answers(&imported),
            "{number}"
        );
    }
}

#[test]
fn key_value_histories_have_their_verdicts() {
    for file in ["c01-ok.txt", "c01-bad.txt", "c10-ok.txt", "c10-bad.txt"] {
        let imported = read(&data(file));
        assert_eq!(is_good(&imported), file.contains("ok"), "{file}");
        for format in [Format::Jsonl, Format::Events, Format::Edn] {
            let again = through(&imported, format);
            assert_eq!(is_good(&again), file.contains("ok"), "{file} as {format:?}");
            assert_eq!(
                calls_and_answers(&again),
                calls_and_answers(&imported),
                "{file} as {format:?}"
            );
        }
    }
}

#[test]
#[ignore = "needs the folder of histories: see the top of this file"]
fn every_history_of_porcupine_has_its_verdict() {
    let folder = PathBuf::from(std::env::var_os("INTERLAP_HISTORIES").expect("INTERLAP_HISTORIES"));
    let mut wrong = Vec::new();
    let mut check_file = |path: &Path, good: bool| {
        let start = Instant::now();
        let imported = read(path);
        let read = start.elapsed();
        let right = match verdict(&imported) {
            Verdict::Consistent => good,
            Verdict::Violation(_) => !good,
            Verdict::Inconclusive(_) => false,
        };
        let checked = start.elapsed() - read;
        if !right {
            wrong.push(path.display().to_string());
        }
        (imported.history.len(), read, checked)
    };
    for name in ["c01-ok", "c01-bad", "c10-ok", "c10-bad", "c50-ok", "c50-bad"] {
        let path = folder.join(format!("kv/{name}.txt"));
        let (operations, read, checked) = check_file(&path, name.ends_with("ok"));
        println!("{name}, {operations} operations: read {read:?}, checked {checked:?}");
    }
    let numbers = (0..=102).filter(|number| *number != 95);
    let logs = numbers.map(|n| (folder.join(format!("etcd/etcd_{n:03}.log")), GOOD.contains(&n)));
    let all = logs.map(|(path, good)| check_file(&path, good));
    let (mut operations, mut times) = (0, (Duration::ZERO, Duration::ZERO));
    for (count, read, checked) in all {
        (operations, times) = (operations + count, (times.0 + read, times.1 + checked));
    }
    println!(
        "102 logs of etcd, {operations} operations: read {:?}, checked {:?}",
        times.0, times.1
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}
