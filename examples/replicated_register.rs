//! A register on three replicas (Attiya, Bar-Noy, Dolev 1995), simulated step by step. A read asks
//! two replicas and takes the newest value. Unless it also writes that value back, a later read can
//! ask two others and see an older one: a violation that few schedules show.
//! `cargo run --example replicated_register`

use interlap::core::random::Random;
use interlap::core::recorder::{Answered, CallUnderWay, Recorder};
use interlap::{check::Limits, model::Model, view::judged::Judged};

#[derive(Clone, Copy, Debug)]
enum Call {
    Write(u64),
    Read,
}

/// What a sequential register does.
struct Register;

impl Model<Answered<Call, u64>> for Register {
    type State = u64;

    fn init(&self) -> u64 {
        0
    }

    fn step(&self, held: &u64, operation: &Answered<Call, u64>, next: &mut Vec<u64>) {
        match (operation.call, operation.answer) {
            (Call::Write(value), _) => next.push(value),
            (Call::Read, answer) if answer.is_none_or(|answer| answer == *held) => next.push(*held),
            (Call::Read, _) => {} // it cannot have answered that
        }
    }
}

/// A client in a call: the newest value it has seen, and the replicas to ask and then to store at.
struct Client {
    recorded: CallUnderWay<Call, u64>,
    newest: u64,
    ask: Vec<usize>,
    store: Vec<usize>,
}

/// One writer, whose values grow, and two readers. The schedule is a function of the seed.
fn simulate(seed: u64, writes_back: bool) -> Judged {
    let (mut random, recorder) = (Random::new(seed), Recorder::new());
    let (mut replicas, mut written) = ([0; 3], 0);
    let mut clients: [Option<Client>; 3] = [None, None, None];
    for _ in 0..120 {
        let number = random.below(3) as usize;
        let majority = |but: u64| (0..3).filter(|at| *at != but as usize).collect::<Vec<_>>();
        let Some(client) = &mut clients[number] else {
            written += u64::from(number == 0);
            let call = if number == 0 { Call::Write(written) } else { Call::Read };
            let (mut ask, mut store) = (majority(random.below(3)), majority(random.below(3)));
            ask.retain(|_| number > 0);
            store.retain(|_| number == 0 || writes_back);
            let newest = if number == 0 { written } else { 0 };
            let recorded = recorder.invoke(number as u32, call);
            clients[number] = Some(Client { recorded, newest, ask, store });
            continue;
        };
        if let Some(replica) = client.ask.pop() {
            client.recorded.note(format!("asks {replica}")); // is shown beside the call
            client.newest = client.newest.max(replicas[replica]);
        } else if let Some(replica) = client.store.pop() {
            replicas[replica] = replicas[replica].max(client.newest);
        } else if let Some(client) = clients[number].take() {
            client.recorded.returned(client.newest);
        }
    }
    Judged::new(recorder.journal(), Register, &Limits::default())
}

pub fn main() {
    let mut without = (0..1000).map(|seed| simulate(seed, false));
    let bad = without.find(|judged| !judged.is_consistent()).expect("an older value");
    println!("{}", bad.text("without write-back"));
    assert!((0..1000).all(|seed| simulate(seed, true).is_consistent()));
    println!("with write-back: 1,000 seeds are linearizable");
}
