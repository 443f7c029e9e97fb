//! Compares the online check of streams with the check of every prefix, and its final window with
//! the enumeration of the whole history; checks that it prunes enough.

use std::mem::discriminant;

use interlap::check::{Events, Limits, Online, Verdict, check};
use interlap::core::history::{History, NEVER};
use interlap::core::operation::{Op, Status};
use interlap::model::Spec;

use super::brute;
use super::online::until;
use super::random::{Random, Record};
use super::streams::{Held, answer, call, random_history};

/// Feeds `history`. After all events of each time with a response, calls `look` with that time and
/// whether there is a violation. A call of unknown outcome returns at once: its client continues.
pub fn feed(online: &mut Online, history: &History, mut look: impl FnMut(u64, bool)) {
    let events: Vec<_> = Events::new(history).collect();
    for (at, event) in events.iter().enumerate() {
        let (client, entry) =
            (history.threads[event.id.thread as usize].client, history.entry(event.id));
        let found = if event.returns {
            online.answer(client, entry.status, entry.results, event.time)
        } else {
            online.call(client, entry.op, entry.args, event.time).expect("in order");
            if entry.status != Status::Unknown {
                continue;
            }
            online.answer(client, Status::Unknown, &[], event.time)
        };
        let found = found.expect("in order").is_some();
        if events.get(at + 1).map_or(NEVER, |next| next.time) > event.time {
            look(event.time, found);
        }
    }
}

#[derive(Default, Debug)]
struct Counts {
    bad: usize,
    looks: usize,
    /// Histories of which something was pruned.
    shorter: usize,
}

fn compare(histories: usize, calls: (usize, usize), enumerated: bool) {
    let histories = crate::how_many(histories);
    let (spec, mut random): (Spec, _) = ("log".parse().expect("a model"), Random::new(61));
    let (limits, mut counts) = (Limits::default(), Counts::default());
    for _ in 0..histories {
        let history = random_history(&mut random, calls, 6);
        let mut online = Online::new(spec, limits.clone());
        let mut first = false;
        feed(&mut online, &history, |time, found| {
            counts.looks += 1;
            let whole = check(&until(&history, time), &spec, &limits);
            let bad = matches!(whole, Verdict::Violation(_));
            assert_eq!(bad, found, "after {time}: {whole:?}: {history:?}");
            first = found;
        });
        counts.shorter += usize::from(online.held().0 < history.len());
        let (verdict, rest) = online.finish(false);
        let whole = check(&history, &spec, &limits);
        assert_eq!(discriminant(&verdict), discriminant(&whole), "{rest:?} of {history:?}");
        if enumerated {
            let explained = brute::explained(&rest, &spec);
            assert_eq!(explained, !first, "{rest:?} of {history:?}");
        }
        if let Verdict::Violation(witness) = verdict {
            counts.bad += 1;
            assert_eq!(check(&rest, &spec, &limits), Verdict::Violation(witness), "{rest:?}");
        }
        let mut rarely = Online::new(spec, limits.clone()).every(5);
        feed(&mut rarely, &history, |_, found| assert!(first || !found, "{history:?}"));
        assert_eq!(discriminant(&rarely.finish(false).0), discriminant(&whole), "{history:?}");
    }
    println!("streams: {histories} histories of {calls:?} calls, {counts:?}, 0 mismatches");
    assert!(counts.bad > histories / 20 && counts.bad < histories, "{counts:?}");
    assert!(counts.shorter > histories / 3, "{counts:?}");
}

#[test]
fn online_agrees_on_every_prefix_of_streams() {
    compare(100_000, (3, 6), true);
}

#[test]
fn online_agrees_on_every_prefix_of_longer_streams() {
    compare(5_000, (15, 20), false);
}

/// A client of a long run.
enum Doing {
    Idle,
    Called(Record),
    Done(Record),
}

/// Some client is always in a call. Some appends have no answer: half of those took effect, and
/// most of the others no longer can.
#[test]
fn long_streams_need_little_memory() {
    let spec: Spec = "log".parse().expect("a model");
    let mut random = Random::new(62);
    let mut online = Online::new(spec, Limits::default()).every(256);
    let mut clients: Vec<Doing> = (0..4).map(|_| Doing::Idle).collect();
    let (mut held, mut value, mut clock, mut returned, mut lost) = (Held::NOTHING, 0, 0, 0, 0);
    let mut under_way = 0;
    while returned < 1_000_000 {
        clock += 1;
        let at = random.below(clients.len());
        let client = at as u32;
        clients[at] = match std::mem::replace(&mut clients[at], Doing::Idle) {
            Doing::Idle => {
                let record = call(&held, &mut value, &mut random);
                online.call(client, record.op, &record.args, clock).expect("in order");
                under_way += 1;
                Doing::Called(record)
            }
            // One call is always under way.
            doing if under_way == 1 => doing,
            Doing::Called(record) if record.op == Op::LogAppendBatch && random.percent(1) => {
                let (mut answered, mut after) = (record.clone(), held.clone());
                if random.percent(50) {
                    answer(&mut answered, &mut after, &mut random);
                } else {
                    answered.status = Status::Failed;
                }
                // Whether it took effect may never show.
                let is_seen = answered.status == Status::Ok && answered.args.len() > 3;
                let stays = answered.args[0] == NONE && !is_seen;
                if stays && lost == 3 {
                    clients[at] = Doing::Called(record);
                    continue;
                }
                lost += usize::from(stays);
                held = after;
                online.answer(client, Status::Unknown, &[], clock).expect("in order");
                (under_way, returned) = (under_way - 1, returned + 1);
                Doing::Idle
            }
            Doing::Called(mut record) => {
                answer(&mut record, &mut held, &mut random);
                held = held.hashed();
                Doing::Done(record)
            }
            Doing::Done(record) => {
                let found = online.answer(client, record.status, &record.results, clock);
                let found = found.expect("in order");
                assert!(found.is_none(), "{found:?}");
                (under_way, returned) = (under_way - 1, returned + 1);
                Doing::Idle
            }
        };
    }
    let (now, most) = online.held();
    println!("{now} operations held of {returned}, {most} at most");
    assert!(now < 2_000 && most < 20_000, "{now} operations held, {most} at most");
    assert_eq!(online.finish(false).0, Verdict::Consistent);
}

/// Stands for "none" among the conditions.
const NONE: i64 = i64::MIN;
