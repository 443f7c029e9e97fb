//! Checks the rules of a queue that hands out one of its `k` oldest values. The rules are
//! necessary, not sufficient: a history that breaks none goes to the general search.
//!
//! The rules of a pool hold, and one of order: when a value was taken, at most `k - 1` others were
//! surely inside that had been added before it (their enqueue had returned before its enqueue was
//! called, and their dequeue was not called until after its dequeue had returned).

use super::removals::{Broken, Taken};
use super::{fifo, removals};
use crate::check::data::values::{Values, added_by};
use crate::check::data::witnesses;
use crate::check::explanation::{Explanation, OfOrder};
use crate::check::verdict::Witness;
use crate::core::history::{History, NEVER};
use crate::model::Spec;

/// An added value: its number, itself, and the timebox of its enqueue.
struct Added {
    number: usize,
    value: i64,
    start: u64,
    end: u64,
}

/// How many of some places, filled one by one, lie at or after a place (Fenwick 1994).
struct Counts(Vec<u32>);

impl Counts {
    fn fill(&mut self, place: usize) {
        let mut at = self.0.len() - 1 - place;
        while at < self.0.len() {
            self.0[at] += 1;
            at |= at + 1;
        }
    }

    fn from(&self, place: usize) -> u32 {
        let (mut count, mut end) = (0, self.0.len() - place);
        while end > 0 {
            count += self.0[end - 1];
            end &= end - 1;
        }
        count
    }
}

pub fn judge(history: &History, spec: &Spec, values: &Values) -> Result<(), Broken> {
    // The queue's order apart, a pool has all its rules.
    fifo::judge(history, spec, values)?;
    let table = removals::removals(history, values)?.table;
    let mut added = added(history, values);
    let starts: Vec<u64> = {
        let mut starts: Vec<u64> = added.iter().map(|a| table[a.number].start).collect();
        starts.sort_unstable();
        starts
    };
    let mut by_end: Vec<usize> = (0..added.len()).filter(|at| added[*at].end != NEVER).collect();
    by_end.sort_unstable_by_key(|at| added[*at].end);
    let ends: Vec<(u64, u64)> =
        by_end.iter().map(|at| (added[*at].end, table[added[*at].number].start)).collect();
    added.sort_unstable_by_key(|a| a.start);
    let mut counts = Counts(vec![0; added.len()]);
    let mut next = 0;
    for this in &added {
        while let Some((_, taken)) = ends.get(next).filter(|(end, _)| *end < this.start) {
            counts.fill(starts.partition_point(|start| start < taken));
            next += 1;
        }
        let taken = table[this.number];
        if taken.start == NEVER {
            continue;
        }
        let later = starts.partition_point(|start| *start <= taken.end);
        let overtaken = counts.from(later) as usize;
        if overtaken >= spec.k as usize {
            return Err(broken(history, spec, &table, &added, this, overtaken));
        }
    }
    Ok(())
}

fn added(history: &History, values: &Values) -> Vec<Added> {
    let mut added = Vec::with_capacity(values.len());
    for (at, thread) in history.threads.iter().enumerate() {
        for operation in thread.operations() {
            added.extend(added_by(thread, operation).iter().map(|&value| Added {
                number: values.added(at, value),
                value,
                start: operation.start,
                end: operation.end,
            }));
        }
    }
    added
}

/// `this` was taken past `overtaken` older values; a removal without an answer may have taken one.
fn broken(
    history: &History,
    spec: &Spec,
    table: &[Taken],
    added: &[Added],
    this: &Added,
    overtaken: usize,
) -> Broken {
    let end = table[this.number].end;
    let open = history.threads.iter().filter_map(|thread| thread.operations().last());
    let open = open.filter(|o| o.end == NEVER && o.op.removes() && o.start <= end);
    let most: usize =
        open.map(|o| if o.op == crate::core::operation::Op::Dequeue { 1 } else { 64 }).sum();
    let older = |a: &&Added| a.end < this.start && table[a.number].start > end;
    let older: Vec<i64> =
        added.iter().filter(older).take(spec.k as usize).map(|a| a.value).collect();
    let removal = witnesses::takers(history, this.value)[0];
    let calls = |value: i64| {
        [witnesses::adders(history, value), witnesses::takers(history, value)].concat()
    };
    let mut operations: Vec<_> = older.iter().copied().flat_map(calls).collect();
    operations.extend(calls(this.value));
    operations.sort_unstable();
    operations.dedup();
    let explanation = Explanation::Order(OfOrder::OvertookSeveral {
        value: this.value,
        removal,
        older,
        k: spec.k,
    });
    let witness = Witness::new("k-order", explanation, operations);
    Broken { witness, excusable: overtaken < spec.k as usize + most }
}
