//! Searches for an order that keeps the order of each thread's own operations, whatever their
//! timeboxes: sequential consistency (Lamport, IEEE Transactions on Computers 1979). Only the
//! thread that drains comes last, as it did.

use super::frontier::{Frontier, MANY, Search, or_wider};
use super::history::{Task, with_object};
use super::steps::{Step, Steps};
use crate::check::data::bits::Places;
use crate::check::data::empty_answers::must_be_true;
use crate::check::data::small::Few;
use crate::check::data::values::Values;
use crate::check::undecided::{Exhausted, Undecided};
use crate::check::verdict::Limits;
use crate::core::history::{History, OperationId};
use crate::core::operation::Status;
use crate::model::{Call, Expect, Spec};

/// Whether there is such an order. `spec` is none of transactions.
pub fn is_sequentially_consistent(
    history: &History,
    spec: &Spec,
    limits: &Limits,
) -> Result<bool, Undecided> {
    let values = Values::from_history(history).ok();
    let steps = Steps::new(history, spec, values.as_ref());
    if !steps.knows_producers() {
        return Err(Undecided::ProducersUnknown);
    }
    let decided = with_object(history, spec, ProgramOrder { history, spec, steps: &steps, limits });
    decided.map_err(Undecided::Exhausted)
}

struct ProgramOrder<'a, 'b> {
    history: &'a History,
    spec: &'b Spec,
    steps: &'b Steps<'a>,
    limits: &'b Limits,
}

impl<'a> Task<'a> for ProgramOrder<'a, '_> {
    type Output = Result<bool, Exhausted>;

    fn run<M: Expect<Call<'a>>>(self, object: &M) -> Result<bool, Exhausted> {
        or_wider(self.exists::<M, 1>(object), || self.exists::<M, MANY>(object))
    }
}

impl<'a> ProgramOrder<'a, '_> {
    fn exists<M: Expect<Call<'a>>, const WORDS: usize>(
        &self,
        object: &M,
    ) -> Result<bool, Exhausted> {
        let mut search: Search<_, _, WORDS> = Search::new(object, self.limits);
        let mut frontier = Frontier::new(object.init());
        let is_drain = |at: &usize| Some(self.history.threads[*at].client) == self.history.drain;
        let threads = 0..self.history.threads.len();
        let (drain, callers): (Vec<usize>, Vec<usize>) = threads.partition(is_drain);
        for threads in [callers, drain] {
            let Turns { steps, must, may } = self.turns(&threads);
            let places = search.call(&mut frontier, steps)?;
            may.into_iter().for_each(|number| frontier.need_not_happen(places[number]));
            let must: Places<WORDS> = must.into_iter().map(|number| places[number]).collect();
            if !search.close(&mut frontier, must)? {
                return Ok(false);
            }
            frontier.forget(must);
        }
        Ok(!self.history.drained || search.can_be_empty(&frontier)?)
    }

    /// The steps of these threads, each after the one before it in its thread.
    fn turns(&self, threads: &[usize]) -> Turns<'a> {
        let (mut turns, mut parts) = (Turns::default(), Few::new());
        for thread in threads {
            let mut before = None;
            for index in 0..self.history.threads[*thread].operations().len() as u32 {
                let id = OperationId { thread: *thread as u32, index };
                let status = self.history.operation(id).status;
                // Which answers are lone depends on the time.
                if status == Status::Empty && !must_be_true(self.spec, false) {
                    continue;
                }
                self.steps.fill(id, &mut parts);
                let is_alone = parts.len() == 1;
                for Step { call, .. } in parts.drain(..) {
                    let number = turns.steps.len();
                    turns.steps.push((call, before.replace(number)));
                    match status.is_open() {
                        true if is_alone => turns.may.push(number),
                        true => {}
                        false => turns.must.push(number),
                    }
                }
            }
        }
        turns
    }
}

/// Steps, and the numbers of those that must take effect, and of those that may.
#[derive(Default)]
struct Turns<'a> {
    steps: Vec<(Call<'a>, Option<usize>)>,
    must: Vec<usize>,
    may: Vec<usize>,
}
