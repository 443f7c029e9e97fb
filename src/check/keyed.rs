//! The map, register and kv checker: the general search, a frontier for each key. A history comes
//! in, the first operation that no order explains goes out. Every operation concerns one key, and
//! linearizability is local, so the keys are independent histories (Herlihy and Wing 1990; as
//! "P-compositionality" Horn and Kroening 2015); nothing is sorted or copied to part them.

use super::events::Events;
use super::frontier::{Exhausted, Frontier, Search};
use super::hash::FastMap;
use super::strings::Strings;
use super::{Limits, Verdict, Witness, witness};
use crate::history::{History, OperationId};
use crate::model::{Call, Cell, Expect, Kind, Spec, key};

/// An open operation: its key, and its step's bit in that key's frontier.
type Opened = (OperationId, i64, u64);

pub fn check(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    let initial = (spec.kind == Kind::Register).then_some(0);
    let found = match spec.kind {
        Kind::Kv => walk(history, Search::new(&Strings::of(history), limits)),
        _ => walk(history, Search::new(&Cell { initial }, limits)),
    };
    match found {
        Ok(None) => Verdict::Consistent,
        Ok(Some(witness)) => Verdict::Violation(witness),
        Err(exhausted) => Verdict::Inconclusive(exhausted.to_string()),
    }
}

fn walk<'a, M: Expect<Call<'a>>>(
    history: &'a History,
    mut search: Search<Call<'a>, M>,
) -> Result<Option<Witness>, Exhausted> {
    let mut frontiers: FastMap<i64, Frontier<Call<'a>, M::State>> = FastMap::default();
    let mut open: Vec<Option<Opened>> = vec![None; history.threads.len()];
    for event in Events::new(history) {
        let thread = event.id.thread as usize;
        if event.returns {
            let (id, key, mask) = open[thread].take().expect("a return after its call");
            let frontier = frontiers.get_mut(&key).expect("the call made it");
            if !search.close(frontier, mask)? {
                let same = open.iter().flatten().filter(|(_, other, _)| *other == key);
                let others = same.map(|(id, _, _)| *id).collect();
                return Ok(Some(unexplained(history, search.model, frontier, id, others)));
            }
            continue;
        }
        let operation = event.operation;
        let owner = &history.threads[thread];
        let (args, results) = (owner.args(operation), owner.results(operation));
        let (op, status) = (operation.op, operation.status);
        let call = Call { op, status, args, results, thread: event.id.thread, queue: None };
        if status.is_open() && op.only_reads() {
            continue;
        }
        let key = key(op, args);
        let fresh = || Frontier::new(search.model.init());
        let frontier = frontiers.entry(key).or_insert_with(fresh);
        let bit = search.open(frontier, call, 0)?;
        if status.is_open() {
            frontier.need_not_happen(bit);
        }
        open[thread] = Some((event.id, key, bit));
    }
    Ok(None)
}

fn unexplained<'a, M: Expect<Call<'a>>>(
    history: &'a History,
    model: &M,
    frontier: &Frontier<Call<'a>, M::State>,
    failed: OperationId,
    others: Vec<OperationId>,
) -> Witness {
    let operation = history.operation(failed);
    let call = Call {
        op: operation.op,
        status: operation.status,
        args: history.args(failed),
        results: history.results(failed),
        thread: failed.thread,
        queue: None,
    };
    let mut answers: Vec<String> = Vec::new();
    for configuration in &frontier.configurations {
        let answer = model.expected(&configuration.state, &call);
        if !answers.contains(&answer) {
            answers.push(answer);
        }
    }
    answers.truncate(4);
    let explanation = format!(
        "No order explains {}. Without the {} others on the same key then under way it should have \
         answered {}.",
        witness::call(history, failed),
        others.len(),
        answers.join(" or ")
    );
    let operations = others.into_iter().chain([failed]).collect();
    Witness { rule: "not-linearizable", explanation, operations }
}
