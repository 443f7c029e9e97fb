//! Logs of S2's collector, written here by its public schema: reads them, and compares verdicts
//! with a plain enumeration of the promises of S2's streams.

use interlap::check::Verdict;
use interlap::core::history::{Entry, History};
use interlap::core::operation::{Op, Status};
use interlap::exchange::{self, Format};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{OPTIONS, calls_and_answers, is_good, read_text, through, verdict};

fn start(client: u64, op: u64, call: &str) -> String {
    format!("{{\"event\":{{\"Start\":{call}}},\"client_id\":{client},\"op_id\":{op}}}\n")
}

fn finish(client: u64, op: u64, answer: &str) -> String {
    format!("{{\"event\":{{\"Finish\":{answer}}},\"client_id\":{client},\"op_id\":{op}}}\n")
}

/// `null` or the text of a condition.
fn or_null<T: ToString>(value: Option<T>) -> String {
    value.map_or("null".to_string(), |value| value.to_string())
}

fn append_of(hashes: &[u64], set: Option<&str>, token: Option<&str>, at: Option<u64>) -> String {
    let quoted = |token: Option<&str>| or_null(token.map(|token| format!("\"{token}\"")));
    format!(
        "{{\"Append\":{{\"num_records\":{},\"record_hashes\":{hashes:?},\"set_fencing_token\":{},\
         \"fencing_token\":{},\"match_seq_num\":{}}}}}",
        hashes.len(),
        quoted(set),
        quoted(token),
        or_null(at)
    )
}

fn appended(tail: u64) -> String {
    format!("{{\"AppendSuccess\":{{\"tail\":{tail}}}}}")
}

fn found(tail: u64, hash: u64) -> String {
    format!("{{\"ReadSuccess\":{{\"tail\":{tail},\"stream_hash\":{hash}}}}}")
}

fn fold(hash: u64, records: &[u64]) -> u64 {
    records.iter().fold(hash, |hash, record| xxh3_64_with_seed(&record.to_le_bytes(), hash))
}

/// What the collector of a log tells of the records.
#[derive(Clone, Copy, PartialEq)]
enum Collector {
    OfAll,
    /// Of each batch and of the stream the last record alone: before July 2026.
    OfLast,
    /// The same, under the names of 2025.
    OfLastCrc,
    None,
}

const COLLECTORS: [Collector; 4] =
    [Collector::OfAll, Collector::OfLast, Collector::OfLastCrc, Collector::None];

impl Collector {
    /// What is told of a stream after these records.
    fn fold(self, hash: u64, records: &[u64]) -> u64 {
        match self {
            Collector::OfAll => fold(hash, records),
            _ => records.last().copied().unwrap_or(hash),
        }
    }

    /// The call of `append` as this collector writes it.
    fn append(self, records: &[u64], text: &str) -> String {
        let all = format!("\"record_hashes\":{records:?},");
        let last = records.last().expect("a record");
        match self {
            Collector::OfAll => text.to_string(),
            Collector::OfLast => text.replace(&all, &format!("\"last_record_xxh3\":{last},")),
            Collector::OfLastCrc => text.replace(&all, &format!("\"last_record_crc32\":{last},")),
            Collector::None => text.replace(&all, ""),
        }
    }

    fn found(self, tail: u64, hash: u64) -> String {
        let text = found(tail, hash);
        match self {
            Collector::OfAll => text,
            Collector::OfLast => text.replace("stream_hash", "xxh3"),
            Collector::OfLastCrc => text.replace("stream_hash", "crc32"),
            Collector::None => format!("{{\"ReadSuccess\":{{\"tail\":{tail}}}}}"),
        }
    }
}

const INDEFINITE: &str = "\"AppendIndefiniteFailure\"";
const DEFINITE: &str = "\"AppendDefiniteFailure\"";

fn good(lines: &[String]) -> bool {
    is_good(&read_text(&lines.concat(), Format::S2, &OPTIONS).expect("readable"))
}

#[test]
fn an_indefinite_append_may_show_later_or_never() {
    let (first, second) = ([xxh3_64(b"a"), xxh3_64(b"b")], [xxh3_64(b"c")]);
    let head = [
        start(1, 1, &append_of(&first, None, None, None)),
        finish(1, 1, &appended(2)),
        start(1, 2, &append_of(&second, None, None, Some(2))),
        finish(1, 2, INDEFINITE),
    ];
    let read = |hash, tail| vec![start(2, 3, "\"Read\""), finish(2, 3, &found(tail, hash))];
    let (one, both) = (fold(0, &first), fold(fold(0, &first), &second));
    let with = |more: &[Vec<String>]| [&head[..], &more.concat()].concat();
    assert!(good(&with(&[read(one, 2)])));
    assert!(good(&with(&[read(both, 3)])));
    assert!(good(&with(&[read(one, 2), read(both, 3)])), "it took effect between the two");
    assert!(!good(&with(&[read(both, 3), read(one, 2)])), "it cannot go away again");
    assert!(!good(&with(&[read(one, 3)])), "the tail without the record");
    // If another append came first, its condition would not hold.
    let other = [start(3, 4, &append_of(&second, None, None, None)), finish(3, 4, &appended(3))];
    let after = fold(both, &second);
    assert!(!good(&with(&[other.to_vec(), read(after, 4)])));
    assert!(good(&with(&[other.to_vec(), read(both, 3)])));
}

#[test]
fn definite_failures_claim_nothing_and_fences_hold() {
    let (a, b) = ([11u64], [22u64]);
    let fenced = |token: &'static str, answer: &str| {
        vec![
            start(1, 1, &append_of(&a, Some("red"), None, Some(0))),
            finish(1, 1, &appended(1)),
            start(2, 2, &append_of(&b, None, Some(token), None)),
            finish(2, 2, answer),
        ]
    };
    assert!(good(&fenced("red", &appended(2))));
    assert!(!good(&fenced("blue", &appended(2))), "the token is another");
    assert!(good(&fenced("blue", DEFINITE)));
    assert!(good(&fenced("red", DEFINITE)), "it may have failed for any reason");
    let more = [start(3, 3, "\"CheckTail\""), finish(3, 3, "{\"CheckTailSuccess\":{\"tail\":2}}")];
    assert!(!good(&[fenced("red", DEFINITE), more.to_vec()].concat()), "it had no effect");
    assert!(!good(&[fenced("blue", INDEFINITE), more.to_vec()].concat()), "nor could it have any");
    assert!(good(&[fenced("red", INDEFINITE), more.to_vec()].concat()));
}

/// A small generator, so that the test is the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Records, the token to set, and the conditions: token and position.
type Append = (Vec<u64>, Option<u8>, Option<u8>, Option<u64>);

/// A call for the enumeration: the indices of its events, and what S2 promises.
#[derive(Clone, Debug)]
struct Call {
    start: usize,
    end: usize,
    append: Option<Append>,
    /// Tail and hash in the answer.
    tail: Option<u64>,
    hash: Option<u64>,
    optional: bool,
}

/// Whether some order explains the calls.
fn explained(
    collector: Collector,
    calls: &[Call],
    left: &[usize],
    state: (u64, u64, Option<u8>),
) -> bool {
    let must = left.iter().filter(|at| !calls[**at].optional);
    let Some(first_end) = must.map(|at| calls[*at].end).min() else { return true };
    left.iter().any(|&at| {
        let call = &calls[at];
        let rest: Vec<usize> = left.iter().copied().filter(|other| *other != at).collect();
        let after = match &call.append {
            None => Some(state),
            Some((records, set, token, position)) => {
                let holds = token.is_none_or(|token| state.2 == Some(token))
                    && position.is_none_or(|position| state.0 == position);
                let tail = state.0 + records.len() as u64;
                holds.then(|| (tail, collector.fold(state.1, records), set.or(state.2)))
            }
        };
        let agrees = |after: &(u64, u64, Option<u8>)| {
            call.tail.is_none_or(|tail| tail == after.0)
                && call.hash.is_none_or(|hash| hash == after.1 || collector == Collector::None)
        };
        call.start <= first_end
            && after.filter(agrees).is_some_and(|after| explained(collector, calls, &rest, after))
    })
}

/// A stream called by several clients, with some wrong answers: the log, and the calls that count.
fn simulate(numbers: &mut Numbers, collector: Collector) -> (String, Vec<Call>) {
    let (mut state, mut events) = ((0u64, 0u64, None::<u8>), String::new());
    let (mut calls, mut clock) = (Vec::new(), 0);
    // For each client: its number, the call under way, whether that took effect, its answer.
    let mut under_way: Vec<Option<(usize, bool, bool)>> = vec![None; 3];
    let mut names: Vec<u64> = (0..3).collect();
    let token = |token: Option<u8>| token.map(|token| ["red", "blue"][token as usize]);
    let mut budget = 3 + numbers.below(5);
    while budget > 0 || under_way.iter().any(Option::is_some) {
        let at = numbers.below(3) as usize;
        clock += 1;
        match under_way[at].take() {
            None if budget > 0 => {
                budget -= 1;
                let append: Option<Append> = (numbers.below(2) == 0).then(|| {
                    let records = (0..1 + numbers.below(2)).map(|_| numbers.below(3)).collect();
                    let some = |n: u64| (n < 2).then_some(n as u8);
                    let (set, fence) = (some(numbers.below(8)), some(numbers.below(8)));
                    let position = (numbers.below(4) == 0).then(|| numbers.below(5));
                    (records, set, fence, position)
                });
                let text = match &append {
                    Some((records, set, fence, position)) => {
                        let text = append_of(records, token(*set), token(*fence), *position);
                        collector.append(records, &text)
                    }
                    None => ["\"Read\"", "\"CheckTail\""][numbers.below(2) as usize].to_string(),
                };
                let reads = text == "\"Read\"";
                events += &start(names[at], calls.len() as u64, &text);
                let call =
                    Call { start: clock, end: 0, append, tail: None, hash: None, optional: false };
                calls.push(call);
                under_way[at] = Some((calls.len() - 1, false, reads));
            }
            None => {}
            Some((number, false, reads)) => {
                let call = &mut calls[number];
                let mut ok = true;
                if let Some((records, set, fence, position)) = &call.append {
                    ok = fence.is_none_or(|fence| state.2 == Some(fence))
                        && position.is_none_or(|position| state.0 == position);
                    ok |= numbers.below(12) == 0;
                    if ok {
                        let tail = state.0 + records.len() as u64;
                        state = (tail, collector.fold(state.1, records), set.or(state.2));
                    }
                }
                // Sometimes a wrong answer.
                let wrong = u64::from(numbers.below(12) == 0);
                call.tail = ok.then_some(state.0 + wrong);
                call.hash = reads.then_some(state.1);
                under_way[at] = Some((number, true, reads));
            }
            Some((number, true, _)) => {
                let call = &mut calls[number];
                call.end = clock;
                let indefinite = call.append.is_some() && numbers.below(5) == 0;
                let answer = match (&call.append, call.tail, call.hash) {
                    (Some(_), ..) if indefinite => INDEFINITE.to_string(),
                    (Some(_), Some(tail), _) => appended(tail),
                    (Some(_), None, _) => DEFINITE.to_string(),
                    (None, Some(tail), Some(hash)) => collector.found(tail, hash),
                    (None, tail, _) => {
                        format!("{{\"CheckTailSuccess\":{{\"tail\":{}}}}}", tail.expect("answered"))
                    }
                };
                events += &finish(names[at], number as u64, &answer);
                if indefinite {
                    (call.optional, call.tail) = (true, None);
                    names[at] += 3;
                } else if answer == DEFINITE {
                    call.start = usize::MAX;
                }
            }
        }
    }
    calls.retain(|call| call.start != usize::MAX);
    (events, calls)
}

#[test]
fn verdicts_are_those_of_an_enumeration() {
    let mut numbers = Numbers(7);
    let (mut good, all) = (0, crate::how_many(50_000));
    for number in 0..all {
        let collector = COLLECTORS[number % COLLECTORS.len()];
        let (text, calls) = simulate(&mut numbers, collector);
        let left: Vec<usize> = (0..calls.len()).collect();
        let expected = explained(collector, &calls, &left, (0, 0, None));
        let imported = read_text(&text, Format::S2, &OPTIONS).expect("readable");
        assert_eq!(is_good(&imported), expected, "{text}");
        good += usize::from(expected);
    }
    println!("{good} of {all} explained, 0 mismatches");
    assert!(good > all / 10 && good < all - all / 10);
}

#[test]
fn other_formats_keep_everything() {
    let mut numbers = Numbers(11);
    for number in 0..400 {
        let (text, _) = simulate(&mut numbers, COLLECTORS[number % COLLECTORS.len()]);
        let imported = read_text(&text, Format::S2, &OPTIONS).expect("readable");
        for format in [Format::Jsonl, Format::Events, Format::S2] {
            let again = through(&imported, format);
            assert_eq!(calls_and_answers(&again), calls_and_answers(&imported), "{text}");
            let same = |verdict: Verdict| matches!(verdict, Verdict::Consistent);
            assert_eq!(same(verdict(&again)), same(verdict(&imported)));
        }
    }
}

#[test]
fn written_histories_equal_those_of_the_collector() {
    let lines = [
        start(1, 1, &append_of(&[u64::MAX, 7], Some("red"), None, Some(0))),
        start(2, 2, "\"Read\""),
        finish(1, 1, &appended(2)),
        start(1, 3, &append_of(&[9], None, Some("red"), None)),
        finish(2, 2, &found(2, 1 << 63)),
        start(2, 4, "\"CheckTail\""),
        // All that is kept of an open outcome.
        finish(1, 3, INDEFINITE),
    ];
    let imported = read_text(&lines.concat(), Format::S2, &OPTIONS).expect("readable");
    let written =
        |history: &History| exchange::write(history, "log", &imported.interner, Format::S2);
    // Clients are numbered anew.
    let written_lines = written(&imported.history).expect("of streams");
    let again = read_text(&written_lines, Format::S2, &OPTIONS).expect("readable");
    assert_eq!(calls_and_answers(&again), calls_and_answers(&imported));
    let value = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    let events =
        |text: &str| -> Vec<_> { text.lines().map(|l| value(l)["event"].clone()).collect() };
    assert_eq!(events(&written_lines), events(&lines.concat()));
    let mut other = History::default();
    let (args, results) = (&[7][..], &[0][..]);
    let entry = Entry { op: Op::LogAppend, status: Status::Ok, start: 1, end: 2, args, results };
    other.push(0, entry).expect("well formed");
    let error = written(&other).expect_err("records one by one");
    assert!(error.contains("'append' of a log has no form in this format"), "{error}");
}

#[test]
fn a_client_continues_as_another_and_failed_calls_are_left_out() {
    let text = [
        start(4, 1, &append_of(&[u64::MAX, 1 << 63], None, None, None)),
        finish(4, 1, INDEFINITE),
        start(4, 2, "\"Read\""),
        finish(4, 2, "\"ReadFailure\""),
        start(4, 3, "\"CheckTail\""),
    ]
    .concat();
    let imported = read_text(&text, Format::S2, &OPTIONS).expect("readable");
    let history = &imported.history;
    assert_eq!((history.threads.len(), history.len()), (2, 2));
    let all: Vec<_> = history.threads.iter().flat_map(|thread| thread.operations()).collect();
    assert_eq!((all[0].op, all[0].status), (Op::LogAppendBatch, Status::Unknown));
    assert_eq!((all[1].op, all[1].status), (Op::LogCheckTail, Status::Pending));
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let error = |text: &str| read_text(text, Format::S2, &OPTIONS).expect_err(text);
    let read = start(1, 1, "\"Read\"");
    let other = error(&[&read[..], &finish(1, 1, &appended(1))].concat());
    assert!(other.contains("line 2: AppendSuccess of an operation that is read_all"), "{other}");
    assert!(error(&[&read[..], &read].concat()).contains("line 2: client 1 starts"));
    let short = append_of(&[1, 2], None, None, None).replace("[1, 2]", "[1]");
    assert!(error(&start(1, 1, &short)).contains("expected num_records of them, 2"));
    let old = start(1, 1, r#"{"Append":{"num_records":1,"last_record_xxh3":5}}"#);
    let new = start(2, 2, &append_of(&[1], None, None, None));
    let mixed = error(&[old, new].concat());
    assert!(mixed.starts_with("line 2: other hashes than in the lines before"), "{mixed}");
    assert!(
        error("{\"event\":{\"Start\":\"Write\"},\"client_id\":1,\"op_id\":1}").contains("Write")
    );
}
