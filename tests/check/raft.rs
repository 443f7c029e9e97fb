//! A register on a log that three nodes replicate as in Raft (Ongaro, Ousterhout 2014), recorded
//! message by message. A leader may have been replaced without knowing it: reads that it answers
//! alone are found out, reads that go through the log are not accused.

use interlap::check::Limits;
use interlap::core::random::Random;
use interlap::core::recorder::{Answered, CallUnderWay, Recorder};
use interlap::model::Model;
use interlap::view::judged::Judged;

/// A call is what it writes; none if it reads. Each answers the value after it.
type Call = Option<u64>;

struct Register;

impl Model<Answered<Call, u64>> for Register {
    type State = u64;

    fn init(&self) -> u64 {
        0
    }

    fn step(&self, held: &u64, op: &Answered<Call, u64>, next: &mut Vec<u64>) {
        let after = op.call.unwrap_or(*held);
        next.extend(op.answer.is_none_or(|answer| answer == after).then_some(after));
    }
}

enum Message {
    Elect((u64, usize)), // me, with a log of this last term and length
    Granted,
    Replace(Vec<(u64, Call)>), // your log by mine
    Stored(usize),
}

#[derive(Default)]
struct Node {
    term: u64,
    votes: usize,          // two of three lead; 1 if it gave its own away, too
    log: Vec<(u64, Call)>, // terms and calls
    stored: [usize; 3],    // what each node has of the log of this term
    calls: Vec<(usize, CallUnderWay<Call, u64>)>, // of a leader, by their places in the log
}

fn value(log: &[(u64, Call)]) -> u64 {
    log.iter().rev().find_map(|(_, call)| *call).unwrap_or(0)
}

fn simulate(seed: u64, reads_alone: bool) -> Judged {
    let (mut random, recorder) = (Random::new(seed), Recorder::new());
    let (mut nodes, mut wire) = ([(); 3].map(|()| Node::default()), Vec::new());
    for step in 1..600 {
        let at = random.below(3) as usize;
        let (node, others) = (&mut nodes[at], [(at + 1) % 3, (at + 2) % 3]);
        let begin = |node: &mut Node, term, votes| {
            *node = Node { term, votes, log: std::mem::take(&mut node.log), ..Node::default() }
        };
        let last = |node: &Node| (node.log.last().map_or(0, |entry| entry.0), node.log.len());
        match random.below(20) {
            0 => {
                begin(node, node.term + 1, 1);
                let elect = |to| (at, to, node.term, Message::Elect(last(node)));
                wire.extend(others.map(elect));
            }
            1..4 if node.votes > 1 && node.calls.is_empty() => {
                let call = random.one_in(2).then_some(step);
                let recorded = recorder.invoke(at as u32, call);
                match call {
                    None if reads_alone => recorded.returned(value(&node.log)),
                    _ => {
                        node.calls.push((node.log.len(), recorded));
                        node.log.push((node.term, call));
                    }
                }
            }
            4..7 if node.votes > 1 => {
                wire.extend(
                    others.map(|to| (at, to, node.term, Message::Replace(node.log.clone()))),
                );
            }
            _ if wire.is_empty() => {}
            _ => {
                let (from, at, term, message) =
                    wire.swap_remove(random.below(wire.len() as u64) as usize);
                let node = &mut nodes[at];
                if term > node.term {
                    begin(node, term, 0); // what its own calls came to is not known
                }
                match message {
                    _ if term < node.term => {}
                    Message::Elect(log) if node.votes == 0 && log >= last(node) => {
                        node.votes = 1;
                        wire.push((at, from, term, Message::Granted));
                    }
                    Message::Granted => node.votes += 1,
                    Message::Replace(log) if log.len() >= node.stored[at] => {
                        (node.stored[at], node.log) = (log.len(), log);
                        wire.push((at, from, term, Message::Stored(node.log.len())));
                    }
                    Message::Stored(length) => {
                        node.stored[from] = node.stored[from].max(length);
                        // It and its leader are two of three.
                        if node.log[..length].last().is_some_and(|entry| entry.0 == term) {
                            for (place, call) in
                                node.calls.extract_if(.., |(place, _)| *place < length)
                            {
                                call.returned(value(&node.log[..=place]));
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    Judged::new(recorder.journal(), Register, &Limits::default())
}

#[test]
fn a_leader_that_reads_alone_is_found_out() {
    let seeds = crate::how_many(2_000) as u64;
    let is_good = |reads_alone: bool| move |seed: u64| simulate(seed, reads_alone).is_consistent();
    assert!((0..seeds).any(|seed| !is_good(true)(seed)));
    assert!((0..seeds).all(is_good(false)), "reads through the log");
}
