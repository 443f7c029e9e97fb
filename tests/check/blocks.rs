//! Compares the checkers with the enumeration on histories in which calls share timeboxes, as those
//! of threads that run free.

use interlap::check::{Limits, Verdict, check, weaker};
use interlap::core::history::{Entry, History, NEVER, OperationId, Thread};
use interlap::model::{Kind, Size, Spec};

use super::agreement::{SMALL, Shares, assert_agrees};
use super::brute;
use super::random::{Random, Shape, history};

/// The same calls; up to three in a row of a client have the timebox of all of them.
fn in_blocks(history: &History, random: &mut Random) -> History {
    let mut blocked = history.without_threads();
    let stamps = history.ids().map(|id| history.operation(id));
    let late = 1 + stamps.map(|o| if o.end == NEVER { o.start } else { o.end }).max().unwrap_or(0);
    for client in history.clients() {
        let ids = history.program_order(client);
        let (mut rest, first) = (&ids[..], blocked.threads.len());
        while !rest.is_empty() {
            let (block, later) = rest.split_at(rest.len().min(1 + random.below(3)));
            rest = later;
            add_block(&mut blocked.threads, first, history, block, late);
        }
    }
    blocked
}

/// Adds calls with one timebox to the threads of a client, which are those from `first` on.
fn add_block(
    threads: &mut Vec<Thread>,
    first: usize,
    history: &History,
    block: &[OperationId],
    late: u64,
) {
    let entries = block.iter().map(|id| history.entry(*id));
    let ends = block.iter().map(|id| history.operation(*id).end);
    let (start, end) = (history.operation(block[0]).start, ends.max().expect("not empty"));
    let end = if end == NEVER { late } else { end };
    let mut at = first;
    for entry in entries {
        at += threads[at..].iter().take_while(|thread| thread.is_retired()).count();
        if at == threads.len() {
            threads.push(Thread::new(history.threads[block[0].thread as usize].client));
        }
        threads[at].push(Entry { start, end, ..entry }).expect("the blocks are in order");
        at += 1;
    }
}

/// The strongest pool that promises less.
fn pool(spec: &Spec) -> Option<Spec> {
    let is_pool = |spec: &Spec| spec.kind == Kind::Pool && spec.size == Size::None;
    spec.weaker().into_iter().find(is_pool)
}

/// Random histories of a model in blocks, with whether the enumeration explains them. What it
/// explains with a timebox for each call is no violation in blocks.
fn each(text: &str, shape: Shape, histories: usize, compare: impl Fn(&Spec, &History, bool)) {
    let spec: Spec = text.parse().expect(text);
    let (mut random, mut shares, mut blocks) = (Random::new(7), Shares::default(), 0);
    for _ in 0..crate::how_many(histories) {
        let precise = history(Shape { kind: spec.kind, ..shape }, &mut random);
        let history = in_blocks(&precise, &mut random);
        blocks += usize::from(history.has_blocks());
        if brute::explained(&precise, &spec) {
            let verdict = check(&history, &spec, &Limits::default());
            assert!(!matches!(verdict, Verdict::Violation(_)), "{spec}: {precise:?}");
        }
        let explained = brute::explained(&history, &spec);
        shares.note(explained);
        compare(&spec, &history, explained);
    }
    shares.assert_healthy(text);
    assert!(blocks > crate::how_many(histories) / 2, "{blocks} histories have blocks");
}

#[test]
fn rules_decide_calls_that_share_timeboxes() {
    let bulk = Shape { bulk: 30, operations: (3, 6), ..SMALL };
    for (specs, shape) in [
        (&["fifo", "fifo:empty=lone", "lifo", "lifo:empty=none", "priority-queue"][..], SMALL),
        (&["set", "pool", "fifo-per-producer", "fifo-per-producer:empty=strong"], SMALL),
        (&["pool", "fifo-per-producer:bulk=run"], bulk),
    ] {
        // Where a removal has no answer the rules may not suffice.
        let shape = Shape { pending: 0, voids: 0, ..shape };
        for text in specs {
            each(text, shape, 6_000, |spec, history, explained| {
                let verdict = check(history, spec, &Limits::default());
                assert_agrees(&verdict, explained, spec, history, "check");
            });
        }
    }
}

/// Nothing that the model allows is a violation, and nothing that its pool does not is consistent.
#[test]
fn what_rules_do_not_decide_of_them_is_at_least_a_pool() {
    let bulk = Shape { bulk: 30, operations: (3, 6), ..SMALL };
    let counts = Shape { counts: 20, ..SMALL };
    for (specs, shape) in [
        (&["deque", "deque:empty=lone", "fifo-relaxed:k=3", "fifo", "lifo"][..], SMALL),
        (&["fifo-per-producer:empty=count"], SMALL),
        (&["fifo", "fifo:bulk=atomic", "fifo-per-producer:bulk=atomic"], bulk),
        (&["lifo:size=exact", "fifo:size=upper", "deque:size=exact"], counts),
    ] {
        for text in specs {
            each(text, shape, 4_000, |spec, history, explained| {
                let pool = pool(spec).expect("a pool promises less");
                match check(history, spec, &Limits::default()) {
                    Verdict::Consistent => assert!(brute::explained(history, &pool), "{history:?}"),
                    Verdict::Violation(_) => assert!(!explained, "{spec}: {history:?}"),
                    Verdict::Inconclusive(why) => panic!("{spec}: {why:?}: {history:?}"),
                }
            });
        }
    }
}

#[test]
fn a_weaker_promise_that_is_named_allows_the_history() {
    let bulk = Shape { bulk: 30, operations: (3, 6), ..SMALL };
    let mut named = 0;
    for (text, shape) in [("deque", SMALL), ("fifo", SMALL), ("lifo", SMALL), ("fifo", bulk)] {
        let count = std::cell::Cell::new(0);
        each(text, shape, 2_000, |spec, history, explained| {
            if explained || !history.has_blocks() {
                return;
            }
            for model in weaker(history, spec, &Limits::default()) {
                assert!(model.is_linearizable(), "no program order is known");
                assert!(brute::explained(history, &model), "{spec}, {model}: {history:?}");
                count.set(count.get() + 1);
            }
        });
        named += count.get();
    }
    assert!(named > crate::how_many(100), "{named} promises were named");
}
