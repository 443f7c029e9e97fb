//! Checks transactions that append to lists and read whole lists, as Elle's list-append does
//! (Kingsbury and Alvaro, VLDB 2020). Linear in what the lists hold, and exact: a list shows the
//! order of its appends, so each read says which transactions came before it and which after.
//!
//! An append that no read shows comes after all that are shown, in any order. Hence transactions
//! are serializable if these dependencies have no cycle; strictly so, if they have none together
//! with the order in time. Adya (1999) names the cycles.
//!
//! - `cycles`: Finds a short cycle of dependencies, the worst kind first: G0, of appends alone;
//!   G1c, of appends and reads; G-single, with one read that missed something; G2-item, with
//!   several.
//! - `dependencies`: Makes a graph of which transaction comes before which, and why.
//! - `versions`: Says in which order values were appended to each list, or what contradicts that
//!   there was one.

mod cycles;
mod dependencies;
mod versions;

use super::transaction::Extent;
use crate::check::explanation::{Cycle, Dependency, Explanation, OfTransactions};
use crate::check::undecided::Undecided;
use crate::check::verdict::{Limits, Verdict, Witness};
use crate::core::history::{History, OperationId};
use crate::core::operation::Op;
use crate::model::{Kind, Spec};
use dependencies::Dependencies;
use versions::Versions;

/// Whether the transactions are on lists.
pub fn is_of_lists(history: &History) -> bool {
    history.threads.iter().any(|thread| thread.ops().iter().any(Op::is_of_lists))
}

/// Decides serializability; in the order of time, where `spec` keeps that.
pub fn check(
    history: &History,
    spec: &Spec,
    transactions: &[Extent],
    limits: &Limits,
) -> Result<Verdict, Undecided> {
    let with_values = |op: &Op| matches!(op, Op::StoreRead | Op::StoreWrite | Op::StoreRemove);
    let mut ops = history.threads.iter().flat_map(|thread| thread.ops().iter());
    if let Some(op) = ops.find(with_values) {
        return Err(Undecided::NotOfLists(op));
    }
    if spec.kind == Kind::Snapshot {
        return Err(Undecided::Foreign(spec.kind, Op::StoreAppend));
    }
    let versions = match Versions::new(history, transactions, limits)? {
        Ok(versions) => versions,
        Err(witness) => return Ok(Verdict::Violation(witness)),
    };
    limits.go_on()?;
    let graph = Dependencies::new(&versions, spec.is_linearizable());
    let Some(cycle) = cycles::worst(&graph, limits)? else { return Ok(Verdict::Consistent) };
    let named = |dependency: &Dependency| dependency.operations.into_iter().chain(dependency.shown);
    let mut operations: Vec<OperationId> = cycle.iter().flat_map(named).collect();
    operations.sort_unstable();
    operations.dedup();
    let rule = Cycle::rule(&cycle);
    let explanation = Explanation::Transactions(OfTransactions::Cycle(cycle));
    Ok(Verdict::Violation(Witness::new(rule, explanation, operations)))
}
