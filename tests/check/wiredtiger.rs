//! The model of WiredTiger and its specification: both say the same of random histories.
//!
//! A history is what sessions do whose calls take their steps in turns, by the model. Some answers
//! are others than it gives, so that many histories are explained by no order. In every other
//! history four sessions do nothing but read and write two keys: many snapshots are taken while
//! others commit.

use std::path::Path;

use interlap::check::{Limits, Verdict, check};
use interlap::core::journal::Journal;
use interlap::core::recorder::Answered;
use interlap::model::wiredtiger::{Answer, Call, Store, WiredTiger};
use interlap::model::{Model, Specified};
use serde_json::{Value as Json, json};

use super::agreement::Shares;
use super::random::Random;

const CODES: [i64; 6] = [0, 22, -31800, -31801, -31803, -31808];

type Made = Answered<Call, Answer>;

fn made(call: &Json, answer: &Json) -> Made {
    let call = serde_json::from_value(call.clone()).expect("a call");
    Answered { call, answer: Some(serde_json::from_value(answer.clone()).expect("an answer")) }
}

/// The steps of a call: it takes the first any number of times if there are two.
fn steps(made: &Made) -> Vec<Made> {
    let mut steps = Vec::new();
    WiredTiger.split(made, &mut steps);
    if steps.is_empty() { vec![made.clone()] } else { steps }
}

fn after(store: &Store, step: &Made) -> Vec<Store> {
    let mut next = Vec::new();
    WiredTiger.step(store, step, &mut next);
    next
}

/// Whether a call may answer so if no other call comes between its steps.
fn is_possible(store: &Store, made: &Made) -> bool {
    let steps = steps(made);
    let (mut open, mut known) = (vec![store.clone()], Vec::new());
    while let Some(store) = open.pop() {
        if !after(&store, steps.last().expect("one at least")).is_empty() {
            return true;
        }
        if steps.len() > 1 {
            open.extend(after(&store, &steps[0]).into_iter().filter(|at| !known.contains(at)));
        }
        known.push(store);
    }
    false
}

struct Running {
    call: Json,
    answer: Json,
    steps: Vec<Made>,
    start: u64,
    is_over: bool,
}

struct Simulation<'r> {
    random: &'r mut Random,
    is_dense: bool,
    store: Store,
    clock: i64,
    time: u64,
    running: Vec<Option<Running>>,
    /// Client, call, answer, start and end.
    all: Vec<(u32, Json, Json, u64, u64)>,
}

impl Simulation<'_> {
    fn one_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    fn can(&self, thread: usize, name: &str, code: i64) -> bool {
        let call = json!({ name: [0, 0], "#thread": thread });
        is_possible(&self.store, &made(&call, &json!(code)))
    }

    /// A call that mostly makes sense, without its answer; and how many timestamps that has.
    fn call(&mut self, thread: usize) -> (Json, usize) {
        let begins = json!({ "begin": null, "#thread": thread });
        let is_open = !is_possible(&self.store, &made(&begins, &json!(0)));
        let is_prepared = is_open && self.can(thread, "search", 22);
        let is_odd = !self.is_dense && self.one_in(12);
        let names: &[(&str, usize)] = match (is_odd, is_open, is_prepared) {
            _ if self.is_dense && is_open && !is_prepared => {
                &[("search", 0), ("search", 0), ("update", 0), ("commit", 0), ("prepare", 1)]
            }
            _ if self.is_dense && !is_open => {
                &[("begin", 0), ("begin", 0), ("begin_read_committed", 0)]
            }
            (true, ..) => &[
                ("begin", 0),
                ("commit_at", 1),
                ("prepare", 1),
                ("commit", 0),
                ("rollback", 0),
                ("commit_prepared", 2),
                ("rollback_to_stable", 0),
            ],
            (_, false, _) => &[
                ("begin", 0),
                ("begin_at", 1),
                ("begin_at", 1),
                ("begin_read_committed", 0),
                ("begin_read_committed", 0),
                ("set_stable", 1),
                ("set_oldest", 1),
                ("rollback_to_stable", 0),
            ],
            (_, _, true) => &[("commit_prepared", 2), ("commit_prepared", 2), ("rollback", 0)],
            _ => &[
                ("search", 0),
                ("search", 0),
                ("insert", 0),
                ("insert", 0),
                ("update", 0),
                ("update", 0),
                ("remove", 0),
                ("truncate", 0),
                ("reset", 0),
                ("prepare", 1),
                ("commit_at", 1),
                ("commit", 0),
                ("rollback", 0),
            ],
        };
        let (name, stamps) = names[self.random.below(names.len())];
        let (table, key) =
            (if self.is_dense { 0 } else { self.random.below(2) }, self.random.below(2));
        // At first: so that there is something to read.
        let name =
            if name == "update" && self.is_dense && self.clock < 5 { "insert" } else { name };
        let args = match name {
            "search" | "remove" => json!([table, key]),
            "insert" | "update" => json!([table, key, self.random.below(self.values())]),
            "truncate" => json!([table, key, self.random.below(3)]),
            "commit_prepared" => json!([1, 1]),
            "begin_at" | "commit_at" | "prepare" | "set_stable" | "set_oldest" => json!(1),
            _ => Json::Null,
        };
        (json!({ name: args, "#thread": thread }), stamps)
    }

    fn stamp(&mut self) -> i64 {
        self.clock += 1;
        (self.clock + self.random.below(5) as i64 - 3).max(1)
    }

    fn values(&self) -> usize {
        if self.is_dense { 4 } else { 10 }
    }

    /// One that is possible now, but for a few.
    fn answer(&mut self, call: &Json, stamps: usize) -> Json {
        let (at, longer) = (self.stamp(), self.random.below(3) as i64 - 1);
        let mut codes: Vec<i64> = CODES.to_vec();
        if call.get("search").is_some() {
            codes.splice(0..1, 0..self.values() as i64);
        }
        let is_read = self.is_dense && call.get("search").is_some();
        let answer = |code: i64| match stamps {
            0 => json!(code),
            1 => json!({ "code": code, "at": at }),
            _ => json!({ "code": code, "at": at, "durable": (at + longer).max(1) }),
        };
        if self.one_in(if is_read { 6 } else { 24 }) {
            return answer(codes[self.random.below(codes.len())]);
        }
        let possible = |code: &i64| is_possible(&self.store, &made(call, &answer(*code)));
        answer(codes.into_iter().find(possible).unwrap_or(0))
    }

    fn begin(&mut self, thread: usize) {
        let (call, stamps) = self.call(thread);
        let answer = self.answer(&call, stamps);
        let (steps, start) = (steps(&made(&call, &answer)), self.time);
        self.running[thread] = Some(Running { call, answer, steps, start, is_over: false });
    }

    /// The call takes a step, if one is possible; it returns once it has taken its last.
    fn go_on(&mut self, thread: usize) {
        let mut running = self.running[thread].take().expect("it runs");
        if running.is_over {
            let Running { call, answer, start, .. } = running;
            self.all.push((thread as u32, call, answer, start, self.time));
            return;
        }
        let first = self.one_in(2) && running.steps.len() > 1;
        let chosen = if first { 0 } else { running.steps.len() - 1 };
        let mut next = after(&self.store, &running.steps[chosen]);
        if !next.is_empty() {
            self.store = next.swap_remove(self.random.below(next.len()));
            running.is_over = !first;
        } else if !first && self.one_in(3) {
            // Another call came between: no order may explain that.
            running.is_over = true;
        }
        self.running[thread] = Some(running);
    }
}

fn simulated(random: &mut Random, is_dense: bool) -> Vec<(u32, Json, Json, u64, u64)> {
    let threads = if is_dense { 4 } else { 2 + random.below(2) };
    let mut left = if is_dense { 12 } else { 4 } + random.below(9);
    let running = (0..threads).map(|_| None).collect();
    let (store, all) = (Store::default(), Vec::new());
    let mut simulation = Simulation { random, is_dense, store, clock: 2, time: 0, running, all };
    while left > 0 || simulation.running.iter().any(Option::is_some) {
        let thread = simulation.random.below(threads);
        simulation.time += 1;
        match simulation.running[thread] {
            Some(_) => simulation.go_on(thread),
            None if left > 0 => {
                simulation.begin(thread);
                left -= 1;
            }
            None => {}
        }
    }
    let mut all = simulation.all;
    all.sort_by_key(|(.., start, _)| *start);
    all
}

#[test]
fn the_model_of_wiredtiger_says_what_its_specification_does() {
    agree_on(crate::how_many(40_000));
}

#[test]
#[ignore = "five times as many, minutes: make test-long"]
fn the_model_of_wiredtiger_says_what_its_specification_does_of_many() {
    agree_on(200_000);
}

fn agree_on(count: usize) {
    let (specified, mut random, mut shares) = (specified(), Random::new(5), Shares::default());
    for number in 0..count {
        let history = simulated(&mut random, number % 2 == 1);
        shares.note(is_right(&history, &specified));
    }
    shares.assert_healthy("WiredTiger");
}

fn specified() -> Specified {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/specifications/WiredTiger.tla");
    Specified::load(&path, "").expect("WiredTiger.tla")
}

/// What the model says, and the specification says, too.
fn is_right(history: &[(u32, Json, Json, u64, u64)], specified: &Specified) -> bool {
    let (mut of_model, mut of_specification) = (Journal::default(), Journal::default());
    for (client, call, answer, start, end) in history {
        let whole = made(call, answer);
        of_model.push(*client, whole, *start, Some(*end)).expect("in its order");
        let (call, answer) = (call.clone().into(), Some(answer.clone().into()));
        let whole = Answered { call, answer };
        of_specification.push(*client, whole, *start, Some(*end)).expect("in its order");
    }
    let ours = check(&of_model, &WiredTiger, &Limits::default());
    let theirs = check(&of_specification, specified, &Limits::default());
    let is_right = ours == Verdict::Consistent;
    assert!(is_right || matches!(ours, Verdict::Violation(_)), "{ours:?}");
    let same = (theirs == Verdict::Consistent) == is_right;
    assert!(same, "{ours:?}\n{theirs:?}\n{history:#?}");
    is_right
}

/// While client 3 takes its snapshot, client 1 commits a change of key 0, and then client 2 one of
/// key 1. Client 2 changed it before the other committed, or not.
#[test]
fn a_snapshot_has_the_later_of_two_commits_only_if_both_were_under_way_at_once() {
    let specified = specified();
    for (both, reads_later_first) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut history = Vec::new();
        let mut push = |client: u32, name: &str, args: Json, answer: i64, start: u64, end: u64| {
            let call = json!({ name: args, "#thread": client });
            history.push((client, call, json!(answer), start, end));
        };
        push(1, "begin", Json::Null, 0, 0, 1);
        push(1, "insert", json!([0, 0, 4]), 0, 2, 3);
        push(1, "insert", json!([0, 1, 4]), 0, 4, 5);
        push(1, "commit", Json::Null, 0, 6, 7);
        push(3, "begin", Json::Null, 0, 10, 60);
        push(1, "begin", Json::Null, 0, 11, 12);
        push(1, "update", json!([0, 0, 5]), 0, 13, 14);
        let (commits, begins) = if both { (30, 15) } else { (20, 31) };
        push(1, "commit", Json::Null, 0, commits, commits + 1);
        push(2, "begin", Json::Null, 0, begins, begins + 1);
        push(2, "update", json!([0, 1, 5]), 0, begins + 2, begins + 3);
        push(2, "commit", Json::Null, 0, 40, 41);
        let (first, second) = if reads_later_first { ((1, 5), (0, 4)) } else { ((0, 4), (1, 5)) };
        push(3, "search", json!([0, first.0]), first.1, 61, 62);
        push(3, "search", json!([0, second.0]), second.1, 63, 64);
        assert_eq!(is_right(&history, &specified), both, "{history:#?}");
    }
}
