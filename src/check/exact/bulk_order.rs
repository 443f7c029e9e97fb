//! Checks the order of values within one bulk result: finds the first result that hands out a
//! producer's values out of order, or with a gap where the model forbids one. Needs no times: a
//! result is in order or it is not.

use super::removals::Broken;
use crate::check::data::values::{Values, taken_by};
use crate::check::data::witnesses;
use crate::check::explanation::{Explanation, OfOrder};
use crate::check::verdict::Witness;
use crate::core::history::{History, OperationId};
use crate::model::{Bulk, Spec};

pub fn judge(history: &History, spec: &Spec, values: &Values) -> Result<(), Broken> {
    // The last value's number of each producer in the result at hand.
    let mut last: Vec<(usize, usize)> = Vec::new();
    for (at, thread) in history.threads.iter().enumerate() {
        for (index, operation) in thread.operations().iter().enumerate() {
            let taken = taken_by(thread, operation);
            if taken.len() < 2 {
                continue;
            }
            last.clear();
            for &value in taken {
                let number = values.get(value).expect("the table of removals has checked it");
                let producer = values.producer(number);
                let before = last.iter_mut().find(|(p, _)| *p == producer);
                let Some((_, before)) = before else {
                    last.push((producer, number));
                    continue;
                };
                let gap = spec.bulk != Bulk::Element && values.any_used(*before + 1..number);
                if number < *before || gap {
                    let id = OperationId { thread: at as u32, index: index as u32 };
                    return Err(Broken::certain(broken(history, values, id, *before, number)));
                }
                *before = number;
            }
        }
    }
    Ok(())
}

/// Two neighbours of one producer in a bulk result, by their numbers.
fn broken(
    history: &History,
    values: &Values,
    id: OperationId,
    first: usize,
    second: usize,
) -> Witness {
    let named = |number| {
        let with = |value: &&i64| values.get(**value) == Some(number);
        *history.results(id).iter().find(with).expect("both are in the result")
    };
    let (a, b) = (named(first), named(second));
    let adders = [witnesses::adders(history, a)[0], witnesses::adders(history, b)[0]];
    let rule = if second < first { "bulk-order" } else { "bulk-gap" };
    let explanation = Explanation::Order(OfOrder::BulkResult {
        removal: id,
        values: [a, b],
        addition: adders[0],
        is_gap: second > first,
    });
    let mut operations = adders.to_vec();
    operations.dedup();
    operations.push(id);
    Witness::new(rule, explanation, operations)
}
