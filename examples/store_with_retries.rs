//! A key-value store behind a network that loses answers. A client that got none tries once more,
//! which may do an append twice. `cargo run --example store_with_retries`

use std::collections::{BTreeMap, HashSet};
use std::{fmt::Debug, hash::Hash, sync::Mutex};

use interlap::core::random::Random;
use interlap::core::recorder::{Answered, Recorder};
use interlap::{check::Limits, model::Model, view::judged::Judged};

#[derive(Clone, Debug)]
enum Call {
    Append(i64, char),
    Get(i64),
}

struct Store;

impl Model<Answered<Call, String>> for Store {
    type State = String; // of one key: keys are independent

    fn init(&self) -> String {
        String::new()
    }

    fn step(&self, held: &String, op: &Answered<Call, String>, next: &mut Vec<String>) {
        match (&op.call, &op.answer) {
            (Call::Append(_, letter), _) => next.push(format!("{held}{letter}")),
            (Call::Get(_), Some(answer)) if answer != held => {}
            (Call::Get(_), _) => next.push(held.clone()),
        }
    }

    fn part(&self, op: &Answered<Call, String>) -> Option<impl Eq + Hash + Debug> {
        let (Call::Append(key, _) | Call::Get(key)) = op.call;
        Some(key)
    }
}

/// Three threads call; one answer in five is lost, and a client tries twice at most.
fn run(seed: u64, numbers_requests: bool) -> Judged {
    let (recorder, server) = (&Recorder::new(), Mutex::new((BTreeMap::new(), HashSet::new())));
    let serve = &|call: &Call, request: (u8, u8)| {
        let mut server = server.lock().expect("nobody panics");
        let is_new = server.1.insert(request) || !numbers_requests;
        let (Call::Append(key, _) | Call::Get(key)) = call;
        let string: &mut String = server.0.entry(*key).or_default();
        if let (Call::Append(_, letter), true) = (call, is_new) {
            string.push(*letter);
        }
        string.clone()
    };
    std::thread::scope(|scope| {
        for client in 0..3 {
            scope.spawn(move || {
                let mut random = Random::new(3 * seed + u64::from(client));
                for number in 0..20 {
                    let key = random.below(2) as i64;
                    let letter = char::from(b'A' + 20 * client + number); // no other's
                    let call = [Call::Append(key, letter), Call::Get(key)];
                    let call = &call[random.below(2) as usize];
                    let recorded = recorder.invoke(client.into(), call.clone());
                    let mut answers = (0..2).map(|_| serve(call, (client, number)));
                    if let Some(answer) = answers.find(|_| random.below(5) > 0) {
                        recorded.returned(answer);
                    } // else it is dropped: its outcome is not known
                }
            });
        }
    });
    Judged::new(recorder.journal(), Store, &Limits::default())
}

pub fn main() {
    let bad = run(1, false);
    assert!(!bad.is_consistent());
    println!("{}", bad.text("appends tried again")); // `bad.page` is a page for browsers
    assert!((0..100).all(|seed| run(seed, true).is_consistent()));
    println!("with numbered requests: 100 runs are linearizable");
}
