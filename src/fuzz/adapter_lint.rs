//! Warns about methods of an adapter that are never called, and about containers that can add
//! values but not remove them, or the reverse: the author may have misnamed a method.

use anyhow::{Result, bail};

use super::Warning;
use crate::binary::members::Types;
use crate::core::operation::Op;

/// Operations of containers: those that put values in and those that take them out.
const SIDES: [(&[Op], &[Op]); 6] = {
    use Op::*;
    [
        (&[Enqueue, EnqueueBulk], &[Dequeue, DequeueBulk]),
        (&[Push], &[Pop]),
        (&[DequePush], &[DequeTake, DequeSteal]),
        (&[PriorityInsert], &[PriorityPoll]),
        (&[SetInsert], &[SetRemove]),
        (&[MapPut, MapInsertIfAbsent], &[MapRemove]),
    ]
};

/// Shorter names have too many others that differ by a letter.
const LIKE_MIN: usize = 4;

/// What is to be said about an adapter with these operations, and with a class of its own
/// unless it is `bundled`.
///
/// # Errors
/// If a method that is never called has almost the name of an operation.
pub fn warnings(offered: &[Op], types: Option<&Types>) -> Result<Vec<Warning>> {
    let uncalled = types.map(Types::uncalled_methods).unwrap_or_default();
    for method in &uncalled {
        if let Some(op) = meant(method, offered) {
            bail!(
                "method {method} is never called. If {op} was meant, rename it; if not, make it \
                 private"
            );
        }
    }
    let uncalled: Vec<String> = uncalled.into_iter().map(str::to_string).collect();
    let never_called = (!uncalled.is_empty()).then_some(Warning::NeverCalled(uncalled));
    Ok(never_called.into_iter().chain(one_sided(offered, types.is_none())).collect())
}

/// The operation that is missing, and that a method was almost named as.
fn meant(method: &str, offered: &[Op]) -> Option<&'static str> {
    let family = offered.first()?.family();
    let missing = Op::ALL.iter().filter(|op| op.family() == family && !offered.contains(op));
    let mut names = missing.map(|op| op.name()).filter(|name| name.len() >= LIKE_MIN);
    names.find(|name| strsim::damerau_levenshtein(method, name) == 1)
}

/// The warning about a container that offers only one side. Sets and maps of `bundled` adapters may
/// only grow on purpose.
fn one_sided(offered: &[Op], bundled: bool) -> Option<Warning> {
    let among = |side: &[Op]| -> Vec<&'static str> {
        let there = side.iter().filter(|op| offered.contains(op));
        there.map(|op| op.name()).collect()
    };
    SIDES.iter().find_map(|(adders, removers)| {
        let is_grown = matches!(adders[0], Op::SetInsert | Op::MapPut);
        let (offers, missing) = match (among(adders), among(removers)) {
            (added, removed) if added.is_empty() == removed.is_empty() => return None,
            (_, removed) if removed.is_empty() && bundled && is_grown => return None,
            (added, removed) if removed.is_empty() => (added, removers),
            (_, removed) => (removed, adders),
        };
        let lacks = missing.iter().map(|op| op.name()).collect();
        Some(Warning::OneSided { offers, lacks })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Op::*;

    #[test]
    fn one_sided_containers_are_warned_about() {
        for (ops, has, misses) in [
            (&[Enqueue][..], &["enqueue"][..], &["dequeue", "dequeue_bulk"][..]),
            (&[Dequeue, DequeueBulk], &["dequeue", "dequeue_bulk"], &["enqueue", "enqueue_bulk"]),
            (&[SetInsert, SetContains], &["insert"], &["remove"]),
            (&[MapGet, MapPut], &["put"], &["remove"]),
        ] {
            let Some(Warning::OneSided { offers, lacks }) = one_sided(ops, false) else {
                panic!("{ops:?}")
            };
            assert_eq!((&*offers, &*lacks), (has, misses));
        }
    }

    #[test]
    fn complete_containers_and_those_that_only_grow_are_not() {
        for ops in [
            &[EnqueueBulk, Dequeue][..],
            &[DequePush, DequeSteal],
            &[SetInsert, SetRemove],
            &[CounterAdd, CounterRead],
            &[LogAppend, LogRead],
            &[RegisterRead, RegisterWrite],
            &[KvGet, KvPut],
        ] {
            assert!(one_sided(ops, false).is_none(), "{ops:?}");
        }
        assert!(one_sided(&[SetInsert, SetContains], true).is_none());
        assert!(one_sided(&[SetContains, SetRemove], true).is_some());
    }

    #[test]
    fn a_method_with_almost_the_name_of_a_missing_operation_is_noticed() {
        assert_eq!(meant("enque_bulk", &[Enqueue, Dequeue]), None);
        assert_eq!(meant("enqueue_bluk", &[Enqueue, Dequeue]), Some("enqueue_bulk"));
        assert_eq!(meant("dequeu", &[Enqueue]), Some("dequeue"));
        // The class has a dequeue; and short names are like many others.
        assert_eq!(meant("requeue", &[Enqueue, Dequeue]), None);
        assert_eq!(meant("top", &[Push]), None);
    }
}
