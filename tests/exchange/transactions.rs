//! Transactions of Jepsen: by example, and compared with an enumeration of all orders.

use std::collections::BTreeMap;
use std::fmt::Write;

use interlap::check::{Verdict, check};
use interlap::core::interner::Value;
use interlap::core::random::Random;
use interlap::exchange::{Format, Options};
use interlap::model::Spec;

use super::{OPTIONS, is_good, limits, read_text, through};

/// Events as `0 invoke [[:r :x nil]]`.
fn text(events: &[&str]) -> String {
    let event = |text: &&str| {
        let words: Vec<&str> = text.splitn(3, ' ').collect();
        let [process, kind, value] = words[..] else { panic!("{text}") };
        format!("{{:process {process}, :type :{kind}, :f :txn, :value {value}}}\n")
    };
    events.iter().map(event).collect()
}

/// The rule that is broken, or "good".
fn verdict_of(events: &[&str]) -> &'static str {
    let imported = read_text(&text(events), Format::Edn, &OPTIONS).expect("good");
    assert_eq!(imported.model.expect("a model").to_string(), "serializable");
    match check(&imported.history, &imported.model.expect("a model"), &limits()) {
        Verdict::Violation(witness) => witness.rule,
        Verdict::Consistent => "good",
        Verdict::Inconclusive(why) => panic!("{why:?}"),
    }
}

#[test]
fn anomalies_of_jepsen_are_named() {
    let write = ["0 invoke [[:w :x 1]]", "0 ok [[:w :x 1]]"];
    let read = ["1 invoke [[:r :x nil]]", "1 ok [[:r :x 1]]"];
    assert_eq!(verdict_of(&[write, read].concat()), "good");
    assert_eq!(verdict_of(&[read, write].concat()), "not-serializable");
    let stale = ["1 invoke [[:r :x nil]]", "1 ok [[:r :x nil]]"];
    assert_eq!(verdict_of(&[write, stale].concat()), "stale-read");
    let failed = ["0 invoke [[:w :x 1]]", "0 fail [[:w :x 1]]"];
    assert_eq!(verdict_of(&[failed, read].concat()), "aborted-read");
    let unknown = ["0 invoke [[:w :x 1]]", "0 info [[:w :x 1]]"];
    assert_eq!(verdict_of(&[unknown, stale, read].concat()), "good");
    assert_ne!(verdict_of(&[unknown, read, stale].concat()), "good");
    let lost = [
        "0 invoke [[:r :x nil] [:w :x 1]]",
        "1 invoke [[:r :x nil] [:w :x 2]]",
        "0 ok [[:r :x nil] [:w :x 1]]",
        "1 ok [[:r :x nil] [:w :x 2]]",
    ];
    assert_eq!(verdict_of(&lost), "lost-update");
    let skew = [
        "0 invoke [[:r :x nil] [:w :y 1]]",
        "1 invoke [[:r :y nil] [:w :x 2]]",
        "0 ok [[:r :x nil] [:w :y 1]]",
        "1 ok [[:r :y nil] [:w :x 2]]",
    ];
    assert_eq!(verdict_of(&skew), "write-skew");
    let own = ["0 invoke [[:w :x 1] [:r :x nil]]", "0 ok [[:w :x 1] [:r :x 2]]"];
    assert_eq!(verdict_of(&own), "own-write-lost");
}

#[test]
fn registers_of_knossos_begin_with_their_initial_value() {
    let read = ["0 invoke [[:read :x nil] [:read :y nil]]", "0 ok [[:read :x 0] [:read :y 0]]"];
    let initial = |initial: Option<Value>| {
        let options = Options { initial, ..OPTIONS };
        is_good(&read_text(&text(&read), Format::Edn, &options).expect("good"))
    };
    assert!(initial(Some(Value::Integer(0))) && !initial(None));
    let write = ["1 invoke [[:write :x 5]]", "1 ok [[:write :x 5]]"];
    let nothing = ["0 invoke [[:read :x nil]]", "0 ok [[:read :x nil]]"];
    assert_eq!(verdict_of(&[write, nothing].concat()), "good", "nil says nothing");
}

#[test]
fn an_invalid_transaction_is_refused() {
    let error = |text: &str| read_text(text, Format::Edn, &OPTIONS).expect_err(text);
    let one = |value: &str| error(&text(&[&format!("0 invoke {value}")]));
    let add = one("[[:add 3 4]]");
    assert!(add.starts_with("line 1: [:add 3 4] in a transaction; expected [:r"), "{add}");
    let mixed = error(&text(&["0 invoke [[:append 1 2]]", "1 invoke [[:w 1 2]]"]));
    assert!(mixed.contains("line 2: [:w 1 2] in a transaction; expected either lists"), "{mixed}");
    assert!(one("7").contains("a transaction of 7; expected [[:r 1 nil]"));
    assert!(one("[[:w :x nil]]").contains("expected [:r KEY VALUE]"));
    let other = error(&text(&["0 invoke [[:w 1 2]]", "0 ok [[:w 1 3]]"]));
    assert!(other.starts_with("line 2: the end of a transaction with [[:w 1 3]]"), "{other}");
    assert!(error(&text(&["0 ok [[:w 1 3]]"])).contains("did not start"));
    let twice = error(&text(&["0 invoke [[:w 1 2]]", "0 invoke [[:w 1 3]]"]));
    assert!(
        twice.contains("line 2: client 0 starts a transaction while that of line 1"),
        "{twice}"
    );
    let mixed = "{:process 1, :type :invoke, :f :read, :value nil}\n";
    assert!(
        error(&(text(&["0 invoke [[:w 1 2]]"]) + mixed))
            .contains("among transactions; expected :txn")
    );
    let snapshot = Options { model: Some("snapshot".parse().expect("a model")), ..OPTIONS };
    let good = text(&["0 invoke [[:w 1 2]]", "0 ok [[:w 1 2]]"]);
    let refused = read_text(&good, Format::Edn, &snapshot).expect_err("snapshot");
    assert!(refused.contains("expected --model serializable"), "{refused}");
}

#[test]
fn lists_of_elle_are_read() {
    let append = ["0 invoke [[:append x 1] [:r y nil]]", "0 ok [[:append x 1] [:r y nil]]"];
    let read = ["1 invoke [[:r x nil]]", "1 ok [[:r x [1]]]"];
    assert_eq!(verdict_of(&[append, read].concat()), "good");
    assert_eq!(verdict_of(&[read, append].concat()), "G1c-realtime");
    let nothing = ["2 invoke [[:r x nil]]", "2 ok [[:r x nil]]"];
    assert_eq!(verdict_of(&[append, read, nothing].concat()), "G-single-realtime");
    let unknown = ["3 invoke [[:append x 2]]", "3 info [[:append x 2]]"];
    assert_eq!(verdict_of(&[append, unknown, read].concat()), "good");
    let failed = ["4 invoke [[:append x 1]]", "4 fail [[:append x 1]]"];
    assert_eq!(verdict_of(&[failed, read].concat()), "aborted-read");
    let imported = read_text(&text(&[append, read].concat()), Format::Edn, &OPTIONS);
    let again = through(&imported.expect("good"), Format::Jsonl);
    assert!(is_good(&again) && again.model.expect("a model").to_string() == "serializable");
}

/// One transaction of a random history, with the indices of its events.
struct Txn {
    start: usize,
    end: usize,
    kind: &'static str,
    /// Key, and the written value; none for a read.
    parts: Vec<(u64, Option<u64>)>,
    found: Vec<Option<u64>>,
}

impl Txn {
    fn value(&self, answered: bool) -> String {
        let mut text = "[".to_string();
        for ((key, written), found) in self.parts.iter().zip(&self.found) {
            let nil = "nil".to_string();
            let held = match written {
                Some(value) => value.to_string(),
                None if answered => found.map_or(nil, |found| found.to_string()),
                None => nil,
            };
            let f = if written.is_some() { ":w" } else { ":r" };
            write!(text, "[{f} {key} {held}]").expect("a string");
        }
        text + "]"
    }

    /// The values after it; none if it cannot happen now.
    fn step(&self, held: &BTreeMap<u64, u64>) -> Option<BTreeMap<u64, u64>> {
        let mut left = held.clone();
        for ((key, written), found) in self.parts.iter().zip(&self.found) {
            match written {
                Some(value) => drop(left.insert(*key, *value)),
                None if self.kind == "ok" && left.get(key) != found.as_ref() => return None,
                None => {}
            }
        }
        Some(left)
    }
}

/// Whether some order explains all committed transactions, and some of those of unknown outcome.
fn explained(all: &[Txn], done: u32, held: &BTreeMap<u64, u64>) -> bool {
    let is_open = |at: usize| done >> at & 1 == 0 && all[at].kind != "fail";
    if (0..all.len()).all(|at| !is_open(at) || all[at].kind == "info") {
        return true;
    }
    (0..all.len()).filter(|at| is_open(*at)).any(|at| {
        let ended = |other: usize| all[other].kind == "ok" && all[other].end < all[at].start;
        let too_early = (0..all.len()).any(|other| is_open(other) && ended(other));
        let left = if too_early { None } else { all[at].step(held) };
        left.is_some_and(|left| explained(all, done | 1 << at, &left))
    })
}

/// Transactions that take effect one after the other within their timeboxes, with some answers
/// changed.
fn random(random: &mut Random) -> (String, Vec<Txn>) {
    let count = random.between(2, 6) as usize;
    let mut places: Vec<usize> = (0..2 * count).collect();
    for at in (1..places.len()).rev() {
        places.swap(at, random.between(0, at as u64) as usize);
    }
    let (mut held, mut all, mut next) = (BTreeMap::new(), Vec::new(), 1);
    let mut boxes: Vec<(usize, usize)> =
        places.chunks(2).map(|two| (two[0].min(two[1]), two[0].max(two[1]))).collect();
    boxes.sort_by_key(|(start, end)| start + end);
    for (start, end) in boxes {
        let kind = *random.pick(&["ok", "ok", "ok", "ok", "info", "fail"]);
        let mut own: BTreeMap<u64, u64> = held.clone();
        let (mut parts, mut found) = (Vec::new(), Vec::new());
        for _ in 0..random.between(1, 3) {
            let key = random.below(2);
            if random.one_in(2) {
                parts.push((key, Some(next)));
                own.insert(key, next);
                next += 1;
            } else {
                parts.push((key, None));
            }
            let wrong = random.one_in(6);
            found.push(if wrong { Some(random.below(next)) } else { own.get(&key).copied() });
        }
        if kind == "ok" || kind == "info" && random.one_in(2) {
            held = own;
        }
        all.push(Txn { start, end, kind, parts, found });
    }
    let mut events: Vec<(usize, String)> = Vec::new();
    for (process, txn) in all.iter().enumerate() {
        events.push((txn.start, format!("{process} invoke {}", txn.value(false))));
        events.push((txn.end, format!("{process} {} {}", txn.kind, txn.value(true))));
    }
    events.sort();
    (text(&events.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>()), all)
}

#[test]
fn verdicts_are_those_of_an_enumeration() {
    let (mut good, mut bad) = (0, 0);
    let serializable: Spec = "serializable".parse().expect("a model");
    let histories = crate::how_many(5_000);
    for seed in 0..histories as u64 {
        let (text, all) = random(&mut Random::new(seed));
        let imported = read_text(&text, Format::Edn, &OPTIONS).expect("good");
        let expected = explained(&all, 0, &BTreeMap::new());
        assert_eq!(is_good(&imported), expected, "seed {seed}:\n{text}");
        if seed % 20 == 0 {
            let again = through(&imported, Format::Jsonl);
            assert_eq!(again.model, Some(serializable));
            assert_eq!(is_good(&again), expected, "seed {seed}:\n{text}");
        }
        *(if expected { &mut good } else { &mut bad }) += 1;
    }
    assert!(good > histories / 5 && bad > histories / 5, "{good} good, {bad} bad");
}
