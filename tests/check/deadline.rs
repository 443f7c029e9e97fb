//! A deadline ends every check that a search decides, and changes no verdict while it is far.

use std::time::{Duration, Instant};

use interlap::check::{
    Exhausted, Limits, NotShown, Online, Undecided, Verdict, check, order, partials, search_trace,
};
use interlap::core::history::History;
use interlap::model::{Kind, Spec};

use super::agreement::SMALL;
use super::isolation;
use super::random::{Random, Shape, history};
use super::streams_online::feed;

/// Histories of each model. Of most kinds one in a few needs a search.
const HISTORIES: usize = 200;

fn until(deadline: Instant) -> Limits {
    Limits { deadline: Some(deadline), ..Limits::default() }
}

fn far() -> Limits {
    until(Instant::now() + Duration::from_secs(3600))
}

fn is_late(why: &Undecided) -> bool {
    match why {
        Undecided::Relaxed { search, .. } => is_late(search),
        why => *why == Exhausted::Deadline.into(),
    }
}

/// Checks such histories with a far deadline, and with one that has passed: then nothing is decided
/// otherwise, and some are not decided.
fn compare(text: &str, mut next: impl FnMut(&Spec, &mut Random) -> History) {
    let (spec, mut random, mut late) = (text.parse::<Spec>().expect(text), Random::new(1), 0);
    for _ in 0..HISTORIES {
        let history = next(&spec, &mut random);
        let verdict = check(&history, &spec, &Limits::default());
        assert_eq!(check(&history, &spec, &far()), verdict, "{text}");
        match check(&history, &spec, &until(Instant::now())) {
            Verdict::Inconclusive(why) if is_late(&why) => late += 1,
            // The shortest witness is looked for while there is time.
            Verdict::Violation(_) => assert!(matches!(verdict, Verdict::Violation(_)), "{text}"),
            decided => assert_eq!(decided, verdict, "{text}"),
        }
    }
    println!("{text}: {late} of {HISTORIES} too late");
    assert!(late > 0, "{text}");
}

#[test]
fn every_search_looks_at_the_deadline() {
    for text in [
        "map",
        "register",
        "kv",
        "range-set",
        "fifo-relaxed:k=1",
        "deque",
        "lifo",
        "fifo",
        "priority-queue",
        "counter",
        "log",
    ] {
        let kind = text.parse::<Spec>().expect(text).kind;
        // What the exact checkers leave to a search: open removals, additions of several amounts.
        let shape = Shape { kind, duplicates: 30, pending: 40, ..SMALL };
        compare(text, |_, random| history(shape, random));
    }
    for text in ["snapshot", "serializable"] {
        compare(text, |_, random| isolation::random_history(random, 0));
    }
}

#[test]
fn an_online_check_gives_up_at_its_deadline() {
    let mut random = Random::new(1);
    for kind in [Kind::Fifo, Kind::RangeSet, Kind::Register] {
        let (history, spec) = (history(Shape { kind, ..SMALL }, &mut random), Spec::new(kind));
        let mut online = Online::new(spec, until(Instant::now()));
        feed(&mut online, &history, |_, is_found| assert!(!is_found));
        let late = Verdict::Inconclusive(Exhausted::Deadline.into());
        assert_eq!(online.finish(false).0, late);
    }
}

#[test]
fn evidence_is_not_sought_for_longer() {
    let (spec, mut random, mut found) = (Spec::new(Kind::Register), Random::new(1), [0; 2]);
    let late = || NotShown::Undecided(Exhausted::Deadline.into());
    while found.iter().any(|count| *count < 5) {
        let history = history(Shape { kind: spec.kind, ..SMALL }, &mut random);
        let past = until(Instant::now());
        match check(&history, &spec, &Limits::default()) {
            Verdict::Violation(witness) => {
                let of = |limits: &Limits| partials(&history, &spec, &witness.operations, limits);
                let Ok(known) = of(&far()) else { continue };
                assert_eq!(of(&past), Err(late()));
                let cut = search_trace(&history, &spec, Some(&known), &past);
                assert!(cut.map_or(true, |trace| trace.is_cut));
                found[0] += 1;
            }
            _ => {
                let Ok(_) = order(&history, &spec, &far()) else { continue };
                assert_eq!(order(&history, &spec, &past), Err(late()));
                found[1] += 1;
            }
        }
    }
}
