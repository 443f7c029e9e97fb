//! Says which weaker promises allow a history that a model does not.

use super::decide::{check, is_judged_as_pool};
use super::exact::sizes::any_count;
use super::verdict::{Limits, Verdict};
use crate::core::history::History;
use crate::model::{Consistency, Spec};

/// What may be spent on each promise.
const LIMITS: Limits = Limits {
    configurations_max: 1 << 14,
    steps_max: 200_000,
    memory_max: 256 << 20,
    jobs: 1,
    cancelled: None,
    deadline: None,
};

/// The same for a history of more than `SHORT` operations. Whether it has an order shows at once,
/// or not before there are too many configurations.
const LIMITS_OF_LONG: Limits =
    Limits { configurations_max: 1 << 10, steps_max: 12_500, memory_max: 2 << 20, ..LIMITS };
const SHORT: usize = 64;

/// Longer histories are not checked a dozen times more.
const OPERATIONS_MAX: usize = 1 << 16;

/// The same of quiescent consistency, where each operation is a thread.
const QUIESCENT_MAX: usize = 1 << 11;

/// The least weak of these that allow the history: models of the same kind, or else of another one,
/// and the same model of which more orders may explain it. What `limits` or those of a promise
/// leave undecided is not named, nor is anything of a very long history.
pub fn weaker(history: &History, spec: &Spec, limits: &Limits) -> Vec<Spec> {
    if history.len() > OPERATIONS_MAX {
        return Vec::new();
    }
    let own = if history.len() > SHORT { LIMITS_OF_LONG } else { LIMITS };
    let limits = own.within(limits);
    let mut models: Vec<Spec> = Vec::new();
    let counted = any_count(history);
    let may_matter = |weaker: &Spec| {
        let is_decided = !is_judged_as_pool(history, weaker, &limits);
        is_decided && (counted || weaker.size == spec.size)
    };
    for weaker in spec.weaker().into_iter().filter(may_matter) {
        let is_named = models.iter().any(|model| model.includes(&weaker));
        let is_enough = models.first().is_some_and(|model| model.kind != weaker.kind);
        if !is_named && !is_enough && check(history, &weaker, &limits) == Verdict::Consistent {
            models.push(weaker);
        }
    }
    // Of calls that share timeboxes the threads do not show the program order.
    let orders = if history.has_blocks() { Vec::new() } else { spec.weaker_orders() };
    let is_short =
        |spec: &Spec| spec.consistency == Consistency::Sequential || history.len() <= QUIESCENT_MAX;
    let is_allowed =
        |spec: &Spec| is_short(spec) && check(history, spec, &limits) == Verdict::Consistent;
    models.extend(orders.into_iter().filter(is_allowed));
    models
}
