//! The check of one thread alone. A history of one client comes in; the first answer that the
//! sequential object contradicts goes out, with the answer it would have given. Here every answer
//! must be right, whatever less the model promises when calls overlap.

use crate::check::data::words;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::history::{History, OperationId};
use crate::model::{
    Bag, Call, Counter, Dictionary, Expect, Kind, Log, OrderedSet, Producers, Relaxed, Sequence,
    Spec, Stream, Texts,
};

/// Judges a history of one thread by the sequential object; an empty answer must be right whatever
/// `empty=` says.
pub fn sequential(history: &History, spec: &Spec) -> Verdict {
    let busy = |thread: &&crate::history::Thread| !thread.operations().is_empty();
    if history.threads.iter().filter(busy).count() > 1 {
        return Verdict::Inconclusive(
            "the history has several threads, or its client went on after a call of unknown \
             outcome: check it as a concurrent history"
                .to_string(),
        );
    }
    if let Some(refusal) = crate::check::data::scope::refuse(history, spec) {
        return Verdict::Inconclusive(refusal);
    }
    let initial = (spec.kind == Kind::Register).then_some(0);
    match spec.kind {
        Kind::Set | Kind::Map | Kind::Register => replay(history, &Dictionary { initial }),
        Kind::FifoPerProducer => replay(history, &Producers { threads: history.threads.len() }),
        Kind::Fifo | Kind::Lifo | Kind::Deque => replay(history, &Sequence),
        Kind::Pool | Kind::PriorityQueue => replay(history, &Bag),
        Kind::FifoRelaxed => replay(history, &Relaxed { k: spec.k as usize }),
        Kind::RangeSet => replay(history, &OrderedSet),
        Kind::Kv => replay(history, &Texts),
        Kind::Counter => replay(history, &Counter),
        Kind::Log if crate::check::data::scope::is_stream(history, spec) => {
            replay(history, &Stream)
        }
        Kind::Log => replay(history, &Log),
        Kind::Snapshot | Kind::Serializable => {
            crate::check::decide::check(history, spec, &Limits::default())
        }
    }
}

fn replay<'a, M: Expect<Call<'a>>>(history: &'a History, model: &M) -> Verdict {
    let (mut states, mut next) = (vec![model.init()], Vec::new());
    for id in history.ids() {
        let operation = history.operation(id);
        let call = Call {
            op: operation.op,
            status: operation.status,
            args: history.args(id),
            results: history.results(id),
            thread: id.thread,
            queue: None,
        };
        // Only the last call can be open, and nothing is answered after it.
        if call.status.is_open() {
            break;
        }
        for state in &states {
            model.step(state, &call, &mut next);
        }
        if next.is_empty() {
            return Verdict::Violation(contradicted(history, id, model, &states[0], &call));
        }
        std::mem::swap(&mut states, &mut next);
        next.clear();
    }
    Verdict::Consistent
}

fn contradicted<'a, M: Expect<Call<'a>>>(
    history: &History,
    id: OperationId,
    model: &M,
    state: &M::State,
    call: &Call<'a>,
) -> Witness {
    let explanation = format!(
        "With no other call under way, {} {}; it should have answered {}.",
        words::called(history, id),
        words::answered(history, id),
        model.expected(state, call)
    );
    Witness { rule: "sequential", explanation, operations: vec![id] }
}
