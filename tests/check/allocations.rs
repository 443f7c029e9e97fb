//! Checks that the check of a short history allocates nothing: an allocation would take longer than
//! the check, of which a fuzzer makes tens of thousands a second.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use interlap::check::{Limits, Verdict, check};
use interlap::model::Spec;

use super::agreement::SMALL;
use super::random::{Random, Shape, history};

thread_local! {
    /// Allocations of this thread: other tests run at the same time.
    static ASKED: Cell<usize> = const { Cell::new(0) };
    /// Bytes that this thread holds, and the most that it held. What another thread frees stays.
    static HELD: Cell<[isize; 2]> = const { Cell::new([0; 2]) };
}

struct Counting;

fn hold(bytes: isize) {
    let _ = HELD.try_with(|held| {
        let [now, most] = held.get();
        held.set([now + bytes, most.max(now + bytes)]);
    });
}

/// The result, and the most bytes that this thread held more than before.
pub fn peak_of<T>(act: impl FnOnce() -> T) -> (T, usize) {
    let [before, _] = HELD.get();
    HELD.set([before; 2]);
    let result = act();
    let [_, most] = HELD.get();
    (result, (most - before).max(0) as usize)
}

fn count() {
    // A thread that is ending no longer counts.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        hold(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        hold(size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Models, and how many allocations a thousand checks may make: the search allocates where
/// unusually many calls overlap. Half of the counters are incremented by several amounts, which
/// only the general search decides.
const MODELS: [(&str, usize); 13] = [
    ("set", 0),
    ("fifo", 0),
    ("fifo:empty=lone", 0),
    ("fifo-per-producer", 0),
    ("fifo-per-producer:empty=strong", 0),
    ("pool", 0),
    ("priority-queue", 0),
    ("counter", 3000),
    ("log", 0),
    ("range-set", 20),
    ("lifo", 100),
    ("map", 20),
    ("register", 100),
];

#[test]
fn a_check_of_a_short_history_allocates_nothing() {
    const HISTORIES: usize = 1000;
    let shape = Shape {
        threads: (3, 3),
        operations: (24, 24),
        pending: 0,
        corruptions: 0,
        hides: 0,
        voids: 0,
        relaxation: 0,
        ..SMALL
    };
    for (text, allowed) in MODELS {
        let spec: Spec = text.parse().expect(text);
        let (mut random, limits) = (Random::new(5), Limits::default());
        let (mut good, mut asked) = (0, 0);
        while good < HISTORIES {
            let history = history(Shape { kind: spec.kind, ..shape }, &mut random);
            let before = ASKED.get();
            let verdict = check(&history, &spec, &limits);
            let during = ASKED.get() - before;
            if verdict == Verdict::Consistent {
                (good, asked) = (good + 1, asked + during);
            }
        }
        println!("{text}: {asked} times in {good} checks");
        assert!(asked <= allowed, "{text}: {asked} times in {good} checks");
    }
}
