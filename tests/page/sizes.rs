//! The sizes of pages, and what the pages of very long histories leave out.

use std::fmt::Write;
use std::time::Instant;

use interlap::core::history::History;

use super::{data, page_of, read};

/// A set of 20 keys, used by five threads. The last call finds a key that is not in the set.
pub fn sets(operations: usize) -> History {
    let mut text = String::from("{\"interlap\": 1, \"model\": \"set\"}\n");
    let mut seed = 1u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut present = [false; 20];
    let mut free = [0u64; 5];
    for at in 0..operations {
        // Each takes effect 10 after the one before, within its timebox.
        let instant = 100 + 10 * at as u64;
        let thread = (0..5).min_by_key(|thread| free[*thread]).expect("five");
        let start = (instant - random(30)).max(free[thread] + 1);
        let end = instant + random(20);
        free[thread] = end.max(start);
        let (key, op) = (random(20) as usize, random(3));
        let wrong = at + 1 == operations;
        let (name, ok) = match op {
            _ if wrong => ("contains", !present[key]),
            0 => ("insert", !std::mem::replace(&mut present[key], true)),
            1 => ("remove", std::mem::replace(&mut present[key], false)),
            _ => ("contains", present[key]),
        };
        let status = if ok { "ok" } else { "failed" };
        // No call overlaps the wrong one.
        let late = if wrong { 1_000 } else { 0 };
        let (start, end) = (start + late, free[thread] + late);
        writeln!(
            text,
            "{{\"thread\": {thread}, \"op\": \"{name}\", \"args\": [{key}], \"start\": {start}, \
             \"end\": {end}, \"status\": \"{status}\"}}"
        )
        .expect("writing to a string");
    }
    read(&text)
}

#[test]
fn a_page_of_3000_operations_is_small() {
    for operations in [100, 3_000, 30_000, 100_000] {
        let history = sets(operations);
        let started = Instant::now();
        let page = page_of(&history, "set", "sets");
        let (kib, ms) = (page.len() >> 10, started.elapsed().as_millis());
        println!("{operations} operations: {kib} KiB, checked and written in {ms} ms");
        let found = data(&page);
        assert_eq!(found["verdict"], "violation");
        assert_eq!(found["operations"]["left_out"], 0);
        // Ten bytes an operation, and the fixed size of a page.
        assert!(page.len() < 400_000 + 14 * operations, "{operations}: {kib} KiB");
    }
}

#[test]
fn a_page_of_too_many_operations_keeps_those_around_the_failure() {
    let history = sets(310_000);
    let found = data(&page_of(&history, "set", "sets"));
    let count = found["operations"]["count"].as_u64().expect("a number");
    assert_eq!(found["operations"]["left_out"], 310_000 - count);
    assert!((300_000..300_100).contains(&count), "{count}");
    // The failure is the last operation.
    assert_eq!(found["partials"]["failed"], count - 1);
    assert!(found["witness"].as_array().is_some_and(|witness| !witness.is_empty()));
}
