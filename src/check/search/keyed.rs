//! Searches histories of keys (map, register, kv), each key for itself. Every operation concerns
//! one key, and linearizability is local, so the keys are independent histories (Herlihy and Wing
//! 1990; as "P-compositionality" Horn and Kroening 2015); nothing is sorted or copied to part them.
//! Each key has a frontier; where keys are cells, [`super::cells`] does the same, faster.

use super::frontier::{MANY, Search, or_wider};
use super::parallel::{Failed, Share};
use super::position::Position;
use super::steps::call_of;
use super::strings::Strings;
use super::{cells, parallel, text_witness};
use crate::check::data::events::Events;
use crate::check::explanation::{Explanation, OfSearch};
use crate::check::undecided::Exhausted;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, OperationId};
use crate::core::operation::Op;
use crate::model::{Call, Cell, Expect, Expected, Kind, Spec, key, returns_value};
use rustc_hash::FxHashMap;

/// Answers that a witness names, of those that would have been right.
const ANSWERS_MAX: usize = 4;

pub fn check(history: &History, spec: &Spec, limits: &Limits) -> Verdict {
    if spec.kind == Kind::Kv {
        let strings = Strings::new(history);
        return parallel::judge(history, limits, |limits, share| {
            follow(history, &strings, limits, share)
        });
    }
    let cell = Cell { initial: (spec.kind == Kind::Register).then_some(0) };
    // All calls on a register concern one key.
    let one = Limits { jobs: 1, ..limits.clone() };
    let limits = if spec.kind == Kind::Register { &one } else { limits };
    parallel::judge(history, limits, |limits, share| {
        let found = cells::walk(history, &cell, limits, share);
        or_wider(found, || follow(history, &cell, limits, share))
    })
}

/// As [`walk`], with as many open calls on a key as there are.
fn follow<'a, M: Expect<Call<'a>>>(
    history: &'a History,
    model: &M,
    limits: &Limits,
    share: &Share,
) -> Result<Option<Failed>, Exhausted> {
    let found = walk::<M, 1>(history, Search::new(model, limits), share);
    or_wider(found, || walk::<M, MANY>(history, Search::new(model, limits), share))
}

fn walk<'a, M: Expect<Call<'a>>, const WORDS: usize>(
    history: &'a History,
    mut search: Search<Call<'a>, M, WORDS>,
    share: &Share,
) -> Result<Option<Failed>, Exhausted> {
    let mut keys: FxHashMap<i64, Position<OperationId, Call<'a>, M::State, WORDS>> =
        FxHashMap::default();
    // The key that each thread's open operation concerns.
    let mut open: Vec<Option<i64>> = vec![None; history.threads.len()];
    for event in Events::new(history) {
        let thread = event.id.thread as usize;
        if event.returns {
            let Some(key) = open[thread].take() else { continue };
            let (id, position) = (event.id, keys.get_mut(&key).expect("the invocation made it"));
            if !position.respond(&mut search, id)? {
                let (others, configurations) =
                    (position.under_way(), &position.frontier.configurations);
                let states = configurations.iter().map(|one| &one.state);
                let witness = text_witness::against(history, id)
                    .unwrap_or_else(|| unexplained(history, search.model, states, id, others));
                return Ok(Some(share.failed(event, witness)));
            }
            if share.is_beaten(event.time) {
                break;
            }
            continue;
        }
        let call = call_of(history, event.id);
        let (key, open_ended) = (key(call.op, call.args), call.status.is_open());
        if !share.has(key) || open_ended && call.op.only_reads() {
            continue;
        }
        let position = keys.entry(key).or_insert_with(|| Position::new(search.model.init()));
        match open_ended {
            true => position.invoke_pending(&mut search, event.id, [(call, None)])?,
            false => drop(position.invoke(&mut search, event.id, [(call, None)])?),
        }
        open[thread] = Some(key);
    }
    Ok(None)
}

/// The witness of the operation that no order explains, with what its key may have held.
pub fn unexplained<'a, 's, M: Expect<Call<'a>>>(
    history: &'a History,
    model: &M,
    states: impl Iterator<Item = &'s M::State>,
    failed: OperationId,
    others: Vec<OperationId>,
) -> Witness
where
    M::State: 's,
{
    let call = call_of(history, failed);
    let mut expected: Vec<Expected> = Vec::new();
    for state in states {
        let answer = model.expected(state, &call);
        if !expected.contains(&answer) {
            expected.push(answer);
        }
    }
    expected.truncate(ANSWERS_MAX);
    let under_way = others.clone();
    let unwritten = unwritten(history, failed);
    let explanation =
        Explanation::Search(OfSearch::OfKey { failed, under_way, unwritten, expected });
    let operations = others.into_iter().chain([failed]).collect();
    Witness::new("not-linearizable", explanation, operations)
}

/// The value that a call handed out and nobody had written; none where somebody had, or which this
/// does not know.
fn unwritten(history: &History, failed: OperationId) -> Option<i64> {
    let call = call_of(history, failed);
    let value = *call.results.first().filter(|_| returns_value(&call))?;
    let (of, end) = (key(call.op, call.args), history.operation(failed).end);
    let writes = |id: OperationId| {
        let other = call_of(history, id);
        let begun = history.operation(id).start <= end;
        begun && other.args.last() == Some(&value) && key(other.op, other.args) == of
    };
    let is_initial = call.op == Op::RegisterRead && value == 0;
    let written = is_initial || history.ids().any(|id| id != failed && writes(id));
    (!written).then_some(value)
}
