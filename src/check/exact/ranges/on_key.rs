//! Finds the few operations of a range set that contradict each other on one key: they show more
//! than how many keys were where an operation looked.

use super::super::set;
use crate::check::data::part::Part;
use crate::check::explanation::{Explanation, OfSearch};
use crate::check::verdict::{Verdict, Witness};
use crate::core::history::{Entry, History, OperationId, Thread};
use crate::core::operation::{Op, Status};
use crate::model::bounds;

/// The witness of a range set whose operation `failed` no order explains, if what that says of a
/// key alone is impossible. The shortest.
pub fn contradiction(history: &History, failed: OperationId) -> Option<Witness> {
    let Entry { op, status, args, results, .. } = history.entry(failed);
    let keys: Vec<i64> = match op {
        Op::SetInsert | Op::SetRemove | Op::SetContains => vec![args[0]],
        Op::SetSelect if status == Status::Ok => results.to_vec(),
        Op::SetRangeList => {
            let range = bounds(op, args)?;
            let single =
                |id| (!history.operation(id).op.reads_range()).then(|| history.args(id)[0]);
            let mut keys: Vec<i64> =
                history.ids().filter_map(single).chain(results.iter().copied()).collect();
            keys.retain(|key| range.contains(key));
            keys.sort_unstable();
            keys.dedup();
            keys
        }
        _ => return None,
    };
    let on_key = |key| witness(&said_of_key(history, key));
    keys.into_iter().filter_map(on_key).min_by_key(|witness| witness.operations.len())
}

/// What is said of a key: whether it is there, and its inserts and removes.
fn said_of_key(history: &History, key: i64) -> Part {
    let threads = history.threads.iter().map(|thread| Thread::new(thread.client));
    let mut said = History { threads: threads.collect(), ..History::default() };
    let mut ids = Vec::new();
    for id in history.ids() {
        if let Some(entry) = said_of(history.entry(id), &[key]) {
            let thread = &mut said.threads[id.thread as usize];
            thread.push(entry).expect("their order is that of this history");
            ids.push(id);
        }
    }
    Part::new(said, &ids)
}

fn witness(of: &Part) -> Option<Witness> {
    let Verdict::Violation(mut witness) = set::check(&of.history) else { return None };
    witness.operations.iter_mut().for_each(|id| *id = of.whole(*id));
    if let Explanation::Search(OfSearch::OfSet { failed, .. }) = &mut *witness.explanation {
        *failed = of.whole(*failed);
    }
    Some(witness)
}

/// What an operation says of the key, as one of a set.
fn said_of<'a>(of: Entry<'a>, key: &'a [i64; 1]) -> Option<Entry<'a>> {
    let is_there = match of.op {
        Op::SetInsert | Op::SetRemove | Op::SetContains => {
            return (of.args[0] == key[0]).then_some(of);
        }
        _ if of.status.is_open() => return None,
        Op::SetRangeList => {
            bounds(of.op, of.args).filter(|range| range.contains(&key[0]))?;
            of.results.contains(&key[0])
        }
        Op::SetSelect => of.status == Status::Ok && of.results.contains(&key[0]),
        _ => return None,
    };
    // That another key is selected says nothing of this one.
    if of.op == Op::SetSelect && !is_there {
        return None;
    }
    let status = if is_there { Status::Ok } else { Status::Failed };
    Some(Entry { op: Op::SetContains, status, args: key, results: &[], ..of })
}
