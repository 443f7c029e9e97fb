//! Porcupine's own examples, a register and a key-value store. `cargo run --example porcupine`

use std::{fmt::Debug, hash::Hash};

use interlap::core::recorder::{Answered, Recorder};
use interlap::{check::Limits, model::Model, view::judged::Judged};

/// What is written to a register, or none for a read.
type Register = Answered<Option<i64>, i64>;

struct RegisterModel;

impl Model<Register> for RegisterModel {
    type State = i64;

    fn init(&self) -> i64 {
        0
    }

    fn step(&self, held: &i64, op: &Register, next: &mut Vec<i64>) {
        match (op.call, op.answer) {
            (Some(written), _) => next.push(written),
            (None, Some(found)) if found != *held => {} // no register answers that
            (None, _) => next.push(*held),
        }
    }
}

#[derive(Clone, Debug)]
enum Call {
    Get(&'static str),
    Put(&'static str, &'static str),
    Append(&'static str, &'static str),
}

struct StoreModel;

impl Model<Answered<Call, String>> for StoreModel {
    type State = String; // of one key

    fn init(&self) -> String {
        String::new()
    }

    fn step(&self, held: &String, op: &Answered<Call, String>, next: &mut Vec<String>) {
        match (&op.call, &op.answer) {
            (Call::Put(_, value), _) => next.push(value.to_string()),
            (Call::Append(_, value), _) => next.push(format!("{held}{value}")),
            (Call::Get(_), Some(found)) if found != held => {}
            (Call::Get(_), _) => next.push(held.clone()),
        }
    }

    fn part(&self, op: &Answered<Call, String>) -> Option<impl Eq + Hash + Debug> {
        let (Call::Get(key) | Call::Put(key, _) | Call::Append(key, _)) = op.call;
        Some(key) // keys are judged for themselves
    }
}

pub fn main() {
    let (good, bad) = (Recorder::new(), Recorder::new());
    let (write, one, two) = (good.invoke(0, Some(100)), good.invoke(1, None), good.invoke(2, None));
    two.returned(0);
    one.returned(100);
    write.returned(0);
    assert!(Judged::new(good.journal(), RegisterModel, &Limits::default()).is_consistent());

    let write = bad.invoke(0, Some(200));
    bad.invoke(1, None).returned(200);
    bad.invoke(2, None).returned(0); // it was 200 before
    write.returned(0);
    println!("{}", Judged::new(bad.journal(), RegisterModel, &Limits::default()));
    let store = Recorder::new();
    let append = store.invoke(0, Call::Append("x", "b"));
    store.invoke(1, Call::Put("x", "a")).returned(String::new());
    store.invoke(1, Call::Put("y", "c")).returned(String::new());
    store.invoke(2, Call::Get("x")).returned("ab".to_string());
    drop(append); // no answer came, and yet it took effect
    assert!(Judged::new(store.journal(), StoreModel, &Limits::default()).is_consistent());
}
