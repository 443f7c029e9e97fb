//! Mutants of every file that interlap reads: none makes it panic or take memory without limit,
//! neither while it is read nor in what commands then do with it.

mod explanations;
mod findings;
mod format;
mod histories;
mod tree;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::Result;
use format::Sample;

use crate::check::allocations::peak_of;
use crate::check::random::Random;

/// The most memory that one mutant may take.
const BYTES_MAX: usize = 1 << 30;

/// How many of `all` mutants a test makes: a fiftieth, or all of them where the environment has
/// `INTERLAP_MUTANTS=all` (`make test-long`).
fn how_many(all: usize) -> usize {
    let has_all = std::env::var("INTERLAP_MUTANTS").is_ok_and(|number| number == "all");
    if has_all { all } else { all / 50 }
}

/// What became of a number of mutants.
#[derive(Default)]
struct Figures {
    mutants: usize,
    accepted: usize,
    failed: Vec<String>,
    bytes_max: usize,
    longest: Duration,
}

/// Passes mutants of the samples, each in turn, to `read`, whose error says why a file was refused.
/// More than half of them must be read: others say little about what follows.
fn survive(name: &str, samples: &[Sample], count: usize, read: impl Fn(&[u8]) -> Result<()>) {
    for sample in samples {
        let bytes = sample.changed(0, &mut Random::new(0)).expect("its own format");
        read(&bytes).expect("a sample that is good");
    }
    let (mut figures, began) = (Figures::default(), Instant::now());
    for seed in 0.. {
        let sample = &samples[seed as usize % samples.len()];
        let mut random = Random::new(seed);
        let changes = 1 + usize::from(random.percent(25));
        let Some(bytes) = sample.changed(changes, &mut random) else { continue };
        let started = Instant::now();
        let (result, peak) = peak_of(|| catch_unwind(AssertUnwindSafe(|| read(&bytes))));
        figures.mutants += 1;
        figures.accepted += usize::from(matches!(result, Ok(Ok(()))));
        figures.bytes_max = figures.bytes_max.max(peak);
        figures.longest = figures.longest.max(started.elapsed());
        if result.is_err() {
            figures.failed.push(format!("mutant {seed} of {name} panics"));
        }
        if figures.mutants == count {
            break;
        }
    }
    let Figures { mutants, accepted, failed, bytes_max, longest } = figures;
    println!(
        "{name}: {mutants} mutants, {accepted} accepted, {} panics, at most {} KiB and {} ms \
         for one, {:.1} s for all",
        failed.len(),
        bytes_max >> 10,
        longest.as_millis(),
        began.elapsed().as_secs_f64()
    );
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(bytes_max <= BYTES_MAX, "{name}: {bytes_max} bytes for one mutant");
    assert!(2 * accepted > count, "{name}: only {accepted} of {count} were read");
}
