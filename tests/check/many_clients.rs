//! Checks histories of stores in which dozens of calls are under way at any time.

use interlap::check::{Limits, Online, Verdict, check};
use interlap::core::history::{Entry, History};
use interlap::core::operation::{Op, Status};
use interlap::model::Spec;

use super::isolation::Simulation;
use super::random::{Random, written};

fn snapshot() -> Spec {
    "snapshot".parse().expect("a model")
}

/// A general search would need far more.
fn few_steps() -> Limits {
    Limits { steps_max: 10_000, ..Limits::default() }
}

#[test]
fn snapshots_of_many_clients_are_decided_without_a_search() {
    let mut random = Random::new(5);
    for _ in 0..20 {
        let history = written(&Simulation::of_many(&mut random, 2).run(2_000));
        let verdict = check(&history, &snapshot(), &few_steps());
        assert_eq!(verdict, Verdict::Consistent);
    }
}

#[test]
fn snapshots_of_many_clients_are_pruned_and_a_stale_read_is_found() {
    let mut random = Random::new(6);
    let mut store = Simulation::of_many(&mut random, 0);
    let mut online = Online::new(snapshot(), few_steps()).at_rest();
    for parts in 1..=24 {
        online.append(written(&store.run(150 * parts))).expect("in order");
        assert_eq!(online.look_at_rest(), None);
    }
    let (held, returned) = (online.held().1 as u64, online.returned());
    assert!(5 * held < returned, "{held} of {returned} held");
    let (now, mut stale) = (store.now(), History::default());
    for (op, args, results) in [
        (Op::StoreBegin, vec![], vec![now]),
        (Op::StoreRead, vec![0], vec![store.replaced(0)]),
        (Op::StoreCommit, vec![], vec![now]),
    ] {
        let (start, end) = (store.tick(), store.tick());
        let entry = Entry { op, status: Status::Ok, start, end, args: &args, results: &results };
        stale.push(0, entry).expect("in order");
    }
    online.append(stale).expect("in order");
    let (verdict, _) = online.finish(false);
    assert!(matches!(verdict, Verdict::Violation(_)), "{verdict:?}");
}
