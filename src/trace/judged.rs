//! What a harness made of a round that it judged itself. Of a consistent one it sends only what is
//! counted: to send, decode and judge its records elsewhere costs nearly twice as much as to judge
//! them there. A sample of the rounds is sent whole and judged again.

use smallvec::SmallVec;

use super::frame::Steps;
use crate::check::{Overlap, Verdict};
use crate::core::answer::AnswerKind;
use crate::core::history::History;
use crate::core::operation::Op;
use crate::core::random::mix;

/// All rounds before the first number are sampled, and one of the second after it.
pub const SAMPLED_FIRST: u64 = 1024;
pub const SAMPLED_ONE_IN: u64 = 16;

/// Whether the round is in the sample that is sent whole, and analysed for what it exercised. Its
/// number alone decides that.
pub fn is_sampled(round: u64) -> bool {
    round < SAMPLED_FIRST || mix(round).is_multiple_of(SAMPLED_ONE_IN)
}

/// What was made of a round that was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Consistent,
    Violation,
}

impl Judgement {
    /// None if the verdict is that the round was not decided.
    pub fn of(verdict: &Verdict) -> Option<Judgement> {
        match verdict {
            Verdict::Consistent => Some(Judgement::Consistent),
            Verdict::Violation(_) => Some(Judgement::Violation),
            Verdict::Inconclusive(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub round: u64,
    /// Threads that called at once.
    pub threads: u32,
    pub overlap: Overlap,
    pub answers: SmallVec<[Answered; 8]>,
    pub steps: Steps,
}

/// How often an operation gave a kind of answer in a round, drain aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    pub op: Op,
    pub kind: AnswerKind,
    /// Calls of the first thread.
    pub by_first: u64,
    pub by_others: u64,
}

impl Answered {
    /// Counts the answers of the first `threads` clients, those of the drain not.
    pub fn count(history: &History, threads: u32) -> SmallVec<[Answered; 8]> {
        let mut answers = SmallVec::<[Answered; 8]>::new();
        for thread in history.threads.iter().filter(|thread| thread.client < threads) {
            for operation in thread.operations() {
                let (op, kind) = (operation.op, AnswerKind::classify(thread, operation));
                let known = answers.iter().position(|known| (known.op, known.kind) == (op, kind));
                let at = known.unwrap_or_else(|| {
                    answers.push(Answered { op, kind, by_first: 0, by_others: 0 });
                    answers.len() - 1
                });
                let first = u64::from(thread.client == 0);
                answers[at].by_first += first;
                answers[at].by_others += 1 - first;
            }
        }
        answers
    }
}
