//! A recorded round as a scenario: what each thread called comes in, the same calls as part of a
//! plan go out. Arguments that depended on what a thread had seen are the values they had. Calls
//! that the target refused as unsupported left no record and are not among them.

use super::history::{History, OperationId};
use super::operation::Op;
use super::plan::{Call, Scenario};

/// Fewest values there is room for in a call's record.
const VALUES_MIN: u64 = 3;

/// The calls of the threads below `callers`; thread `callers` is the drain, whose calls tell what
/// it looked for.
pub fn of(history: &History, callers: u32) -> Scenario {
    part_of(history, callers, |_| true)
}

/// The same of those calls that are to be kept; the drain's are.
pub fn part_of(history: &History, callers: u32, keep: impl Fn(OperationId) -> bool) -> Scenario {
    let mut threads = vec![Vec::new(); callers as usize];
    let mut drain = Vec::new();
    for (at, thread) in (0..).zip(&history.threads) {
        let kept = |index| thread.client >= callers || keep(OperationId { thread: at, index });
        let operations = (0..).zip(thread.operations()).filter(|(index, _)| kept(*index));
        let calls = operations
            .map(|(_, operation)| Call { op: operation.op, args: thread.args(operation).to_vec() });
        threads.get_mut(thread.client as usize).unwrap_or(&mut drain).extend(calls);
    }
    use Op::{KvGet, MapGet, SetContains, SetRemove, StoreRead};
    let looks_at_keys = |op| matches!(op, SetContains | SetRemove | MapGet | KvGet | StoreRead);
    let looks = drain.iter().filter(|call| looks_at_keys(call.op));
    let keys = looks.filter_map(|call| call.args.first()).map(|key| key + 1).max();
    let values = threads.iter().flatten().chain(&drain).map(Call::values).max();
    Scenario {
        threads,
        keys: keys.map_or(0, |keys| keys.max(0) as u64),
        values: values.unwrap_or(0).max(VALUES_MIN),
        sequential: false,
        schedule: None,
    }
}
