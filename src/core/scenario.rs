//! Makes a scenario, which lists calls, from a recorded history.
//! Arguments that depended on earlier answers get the values they had. Calls that the target
//! refused as unsupported left no record and are missing.

use super::history::{History, OperationId};
use super::operation::Op;
use super::plan::{Call, Scenario};

/// A call's record has room for at least this many values.
const VALUES_MIN: u64 = 3;

/// The calls of the clients below `callers`. Client `callers` is the drain: its calls show which
/// keys it read.
pub fn from_history(history: &History, callers: u32) -> Scenario {
    from_part(history, callers, |_| true)
}

/// As [`from_history`], with only the calls that `keep` accepts. The drain is always read.
pub fn from_part(history: &History, callers: u32, keep: impl Fn(OperationId) -> bool) -> Scenario {
    let mut threads = vec![Vec::new(); callers as usize];
    let mut drain = Vec::new();
    for client in history.clients() {
        let ids = history.program_order(client).into_iter();
        let ids = ids.filter(|id| client >= callers || keep(*id));
        let calls = ids.map(|id| Call::new(history.operation(id).op, history.args(id)));
        threads.get_mut(client as usize).unwrap_or(&mut drain).extend(calls);
    }
    use Op::{KvGet, MapGet, SetContains, SetRemove, StoreRead};
    let is_of_key = |op| matches!(op, SetContains | SetRemove | MapGet | KvGet | StoreRead);
    let reads = drain.iter().filter(|call| is_of_key(call.op));
    let keys = reads.filter_map(|call| call.args.first()).map(|key| key.saturating_add(1)).max();
    let values = threads.iter().flatten().chain(&drain).map(Call::values).max();
    Scenario {
        threads,
        keys: keys.map_or(0, |keys| keys.max(0) as u64),
        values: values.unwrap_or(0).max(VALUES_MIN),
        sequential: false,
        of_model: false,
        free: history.has_blocks(),
        schedule: None,
    }
}
