//! Checks a history of one thread: finds the first answer that the sequential object contradicts,
//! with the answer it would have given. Every answer must be right of which the model promises
//! anything, however little where calls overlap.

use super::data::empty_answers::must_be_true;
use super::data::scope::refuse;
use super::decide::check;
use super::explanation::{Explanation, OfSearch};
use super::itself;
use super::search::history::{Task, with_object};
use super::search::steps::call_of;
use super::transactions;
use super::undecided::Undecided;
use super::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, OperationId, Thread};
use crate::core::operation::Status;
use crate::model::{Call, Expect, Kind, Size, Spec};

/// Judges a history of one thread by the sequential object; an empty answer must be right whatever
/// `empty=` says, but for `none`.
pub fn sequential(history: &History, spec: &Spec) -> Verdict {
    let busy = |thread: &&Thread| !thread.operations().is_empty();
    if history.threads.iter().filter(busy).count() > 1 {
        return Verdict::Inconclusive(Undecided::SeveralThreads);
    }
    if let Some(refusal) = refuse(history, spec) {
        return Verdict::Inconclusive(refusal);
    }
    match spec.kind {
        Kind::Snapshot | Kind::Serializable => {
            transactions::check(history, spec, &Limits::default())
        }
        Kind::Itself | Kind::Class => itself::check(history, spec, &Limits::default()),
        Kind::Own => check(history, spec, &Limits::default()),
        _ => {
            let size = if spec.size == Size::None { Size::None } else { Size::Exact };
            with_object(history, &Spec { size, ..*spec }, Replay { history, spec })
        }
    }
}

/// Makes the calls again, one after another.
struct Replay<'a, 's> {
    history: &'a History,
    spec: &'s Spec,
}

impl<'a> Task<'a> for Replay<'a, '_> {
    type Output = Verdict;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Verdict {
        let (mut states, mut next) = (vec![object.init()], Vec::new());
        for id in self.history.ids() {
            let call = call_of(self.history, id);
            // Only the last call can be open, and nothing is answered after it.
            if call.status.is_open() {
                break;
            }
            if call.status == Status::Empty && !must_be_true(self.spec, true) {
                continue;
            }
            for state in &states {
                object.step(state, &call, &mut next);
            }
            if next.is_empty() {
                let witness = contradicted(id, object, &states[0], &call);
                return Verdict::Violation(witness);
            }
            std::mem::swap(&mut states, &mut next);
            next.clear();
        }
        Verdict::Consistent
    }
}

fn contradicted<'a, M: Expect<Call<'a>>>(
    id: OperationId,
    model: &M,
    state: &M::State,
    call: &Call<'a>,
) -> Witness {
    let expected = model.expected(state, call);
    let explanation = Explanation::Search(OfSearch::Sequential { failed: id, expected });
    Witness::new("sequential", explanation, vec![id])
}
