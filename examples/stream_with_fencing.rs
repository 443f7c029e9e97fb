//! A stream of records whose writers hold a fencing token: a new writer takes the next token, after
//! which appends with an older one must be refused. This one looks at the token before it waits for
//! its turn to append, so a writer that was fenced meanwhile still gets through.
//! `cargo run --example stream_with_fencing`

use interlap::core::random::Random;
use interlap::core::recorder::{Answered, CallUnderWay, Recorder};
use interlap::{check::Limits, model::Model, view::judged::Judged};

#[derive(Clone, Debug)]
enum Call {
    /// Answers the new token.
    Fence,
    /// Answers the record's position, or -1 where the token is not the newest.
    Append { token: i64 },
}

/// The token, and how many records there are.
struct Stream;

impl Model<Answered<Call, i64>> for Stream {
    type State = (i64, i64);

    fn init(&self) -> (i64, i64) {
        (0, 0)
    }

    fn step(&self, state: &(i64, i64), op: &Answered<Call, i64>, next: &mut Vec<(i64, i64)>) {
        let (newest, tail) = *state;
        let (answer, after) = match op.call {
            Call::Fence => (newest + 1, (newest + 1, tail)),
            Call::Append { token } if token == newest => (tail, (newest, tail + 1)),
            Call::Append { .. } => (-1, *state),
        };
        if op.answer.is_none_or(|given| given == answer) {
            next.push(after);
        }
    }
}

/// Two writers fence and append in turns of single steps. The schedule is a function of the seed.
fn simulate(seed: u64, looks_again: bool) -> Judged {
    let (mut random, recorder) = (Random::new(seed), Recorder::new());
    let (mut newest, mut tail, mut tokens) = (0, 0, [0, 0]);
    // Appends under way, each with whether its token was the newest. One answer in ten is lost.
    let mut appends: [Option<(CallUnderWay<Call, i64>, bool)>; 2] = [None, None];
    for _ in 0..60 {
        let writer = random.below(2) as usize;
        let token = tokens[writer];
        if let Some((recorded, was_newest)) = appends[writer].take() {
            if was_newest && (!looks_again || token == newest) {
                recorded.returned(tail);
                tail += 1;
            } else if random.below(10) > 0 {
                recorded.returned(-1);
            }
        } else if token < newest || newest == 0 {
            let recorded = recorder.invoke(writer as u32, Call::Fence);
            newest += 1;
            tokens[writer] = newest;
            recorded.returned(newest);
        } else {
            let recorded = recorder.invoke(writer as u32, Call::Append { token });
            appends[writer] = Some((recorded, token == newest));
        }
    }
    Judged::new(recorder.journal(), Stream, &Limits::default())
}

pub fn main() {
    let mut early = (0..1000).map(|seed| simulate(seed, false));
    let bad = early.find(|judged| !judged.is_consistent()).expect("a late append");
    println!("{}", bad.text("the token is looked at before"));
    assert!((0..1000).all(|seed| simulate(seed, true).is_consistent()));
    println!("it is looked at again: 1,000 seeds are linearizable");
}
