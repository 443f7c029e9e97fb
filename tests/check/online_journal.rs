//! Feeds operations to the on-line check of users' models in random orders, and compares with the
//! check of the whole journal.

use interlap::check::{Limits, OnlineJournal, Progress, Undecided, Verdict, check};
use interlap::core::history::NEVER;
use interlap::core::journal::{Journal, Timed};
use interlap::core::recorder::{Answered, Recorder};
use interlap::model::{Model, Spec};

use super::agreement::{SMALL, Shares};
use super::random::{Random, Shape, history};
use super::users::{Map, Owned, Queue, Register, journal};

/// The operations in a random order, in which the node of each reports its own from time to time.
/// Each client is a node.
fn feed<M: Model<Owned>>(
    random: &mut Random,
    journal: &Journal<Owned>,
    model: M,
) -> (OnlineJournal<Owned, M>, Progress) {
    let mut left: Vec<(u32, Timed<Owned>)> =
        journal.operations().map(|(id, timed)| (journal.client(id), timed.clone())).collect();
    left.sort_by_key(|(client, timed)| (*client, timed.start));
    let mut nodes: Vec<u32> = left.iter().map(|(client, _)| *client).collect();
    nodes.dedup();
    let mut online = OnlineJournal::new(model, nodes.iter().copied(), Limits::default());
    let mut explained = 0;
    while !left.is_empty() {
        // Of two at most, so that a client's own may come in another order.
        let client = nodes[random.below(nodes.len())];
        let own: Vec<usize> = (0..left.len()).filter(|at| left[*at].0 == client).collect();
        let Some(at) = own.get(random.below(2)) else { continue };
        let (_, Timed { operation, start, end }) = left.remove(*at);
        let end = Some(end).filter(|end| *end != NEVER);
        online.add(client, operation, start, end).expect("in time");
        let next = left.iter().filter(|(other, _)| *other == client).map(|(_, timed)| timed.start);
        online.bound(client, next.min().unwrap_or(NEVER)).expect("known");
        match online.look() {
            Progress::Consistent { returned } => {
                assert!(returned >= explained);
                explained = returned;
            }
            violated => return (online, violated),
        }
    }
    let progress = online.finish();
    (online, progress)
}

/// The first response after which no order explains what was known then, with the answers of those
/// under way, as a count of responses.
fn first_unexplained<M: Model<Owned> + Sync>(all: &Journal<Owned>, model: &M) -> Option<u64> {
    let mut ends: Vec<u64> =
        all.operations().map(|(_, timed)| timed.end).filter(|end| *end != NEVER).collect();
    ends.sort_unstable();
    // Responses at one time come in any order, so only the last of them is certain.
    ends.iter().enumerate().find_map(|(at, until)| {
        let mut known = Journal::default();
        let mut begun: Vec<_> =
            all.operations().filter(|(_, timed)| timed.start <= *until).collect();
        begun.sort_by_key(|(_, timed)| timed.start);
        for (id, Timed { operation, start, end }) in begun {
            // One that returns later must have taken effect then, or not yet.
            let end = Some(*end).filter(|end| end <= until);
            let client = id.thread;
            known.push(client, operation.clone(), *start, end).expect("as in the journal");
        }
        let is_last = ends.get(at + 1) != Some(until);
        let is_good = check(&known, model, &Limits::default()) == Verdict::Consistent;
        (is_last && !is_good).then_some(at as u64 + 1)
    })
}

fn compare<M>(make: impl Fn() -> M, text: &str, shape: Shape)
where
    M: Model<Owned> + Sync,
    M::State: Sync,
{
    let (spec, mut random): (Spec, _) = (text.parse().expect(text), Random::new(31));
    let mut shares = Shares::default();
    for _ in 0..crate::how_many(10_000) {
        let mut history = history(Shape { kind: spec.kind, ..shape }, &mut random);
        history.drained = false;
        let journal = journal(&history);
        let whole = check(&journal, &make(), &Limits::default());
        let (online, progress) = feed(&mut random, &journal, make());
        shares.note(whole == Verdict::Consistent);
        match progress {
            Progress::Consistent { .. } => assert_eq!(whole, Verdict::Consistent, "{history:?}"),
            Progress::Violated { returned } => {
                assert!(matches!(whole, Verdict::Violation(_)), "{history:?}");
                let first = first_unexplained(&journal, &make()).expect("there is one");
                assert!(returned <= first, "{returned}, not {first}: {history:?}");
                let (since, model) = online.violation().expect("it is short");
                let again = check(&since, &model, &Limits::default());
                assert!(matches!(again, Verdict::Violation(_)), "{since:?} of {history:?}");
            }
            Progress::Undecided(why) => panic!("{why:?}"),
        }
    }
    shares.assert_healthy(text);
}

#[test]
fn operations_in_any_order_are_judged_as_the_whole() {
    let shape = Shape { hides: 0, ..SMALL };
    compare(|| Map, "map", shape);
    compare(|| Register, "register", shape);
    compare(|| Queue, "fifo", shape);
    compare(|| Queue, "fifo", Shape { bulk: 30, threads: (2, 3), operations: (3, 6), ..shape });
}

/// A counter whose calls answer how many came before.
struct Tickets;

impl Model<Answered<(), u64>> for Tickets {
    type State = u64;

    fn init(&self) -> u64 {
        0
    }

    fn step(&self, count: &u64, operation: &Answered<(), u64>, next: &mut Vec<u64>) {
        next.extend(operation.answer.is_none_or(|answer| answer == *count).then_some(count + 1));
    }
}

#[test]
fn a_recorder_hands_on_what_has_ended_and_little_is_held() {
    let (recorder, mut count) = (Recorder::new(), 0);
    let mut online = OnlineJournal::new(Tickets, [0], Limits::default());
    let look = |online: &mut OnlineJournal<_, _>| {
        let (ended, until) = recorder.take();
        online.add_all(&ended).expect("in time");
        online.bound(0, until).expect("node 0");
        online.look()
    };
    for round in 0..10_000 {
        let calls = [1, 2, 3].map(|client| recorder.invoke(client, ()));
        assert_eq!(look(&mut online), Progress::Consistent { returned: 3 * round });
        for call in calls {
            call.returned(count);
            count += 1;
        }
        assert_eq!(look(&mut online), Progress::Consistent { returned: 3 * round + 3 });
        assert!(online.held().0 + online.held().1 <= 6, "{:?}", online.held());
    }
    recorder.invoke(1, ()).returned(count - 1);
    assert_eq!(look(&mut online), Progress::Violated { returned: 30_001 });
    let (journal, model) = online.violation().expect("it is short");
    assert_eq!((journal.len(), model.state), (1, count));
}

#[test]
fn what_comes_too_late_or_of_nobody_is_refused() {
    let mut online = OnlineJournal::new(Tickets, [1, 2], Limits::default());
    let operation = || Answered { call: (), answer: Some(0) };
    online.bound(1, 10).expect("node 1");
    online.add(1, operation(), 5, Some(6)).expect("node 2 may yet report it");
    online.bound(2, 10).expect("node 2");
    let late = online.add(1, operation(), 9, Some(12)).expect_err("too late").to_string();
    assert!(late.contains("started at 9, when all up to 10 was known"), "{late}");
    assert!(online.bound(3, 1).expect_err("unknown").to_string().contains("node 3"));
    assert!(online.add(1, operation(), 12, Some(11)).is_err());
}

/// Parts whose keys have one hash.
struct Doors;

#[derive(PartialEq, Eq, Debug)]
struct Door(u32);

impl std::hash::Hash for Door {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// A door opens once: each operation is the number of a door.
impl Model<u32> for Doors {
    type State = bool;

    fn init(&self) -> bool {
        false
    }

    fn step(&self, is_open: &bool, _: &u32, next: &mut Vec<bool>) {
        next.extend((!is_open).then_some(true));
    }

    fn part(&self, door: &u32) -> Option<impl Eq + std::hash::Hash + std::fmt::Debug> {
        Some(Door(*door))
    }
}

#[test]
fn parts_are_told_apart_by_more_than_their_hashes() {
    let mut online = OnlineJournal::new(Doors, [], Limits::default());
    assert_eq!(online.finish(), Progress::Consistent { returned: 0 });
    let mut online = OnlineJournal::new(Doors, [1], Limits::default());
    (0..3).for_each(|door| {
        online.add(1, door, 10 * u64::from(door), Some(10 * u64::from(door) + 1)).expect("in order")
    });
    online.bound(1, 25).expect("node 1");
    assert_eq!(online.look(), Progress::Consistent { returned: 3 });
    online.add(1, 2, 30, Some(31)).expect("in order");
    assert_eq!(online.finish(), Progress::Violated { returned: 4 });
}

#[test]
fn calls_of_one_client_at_once_are_not_decided() {
    let mut online = OnlineJournal::new(Tickets, [1], Limits::default());
    let operation = |answer| Answered { call: (), answer: Some(answer) };
    online.add(1, operation(0), 1, Some(5)).expect("in time");
    online.add(1, operation(1), 3, Some(6)).expect("in time");
    for _ in 0..2 {
        let progress = online.finish();
        let is_told = matches!(&progress, Progress::Undecided(Undecided::OutOfOrder(_)));
        assert!(is_told, "{progress:?}");
    }
}
