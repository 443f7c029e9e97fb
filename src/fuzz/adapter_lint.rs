//! Warns about adapters that can add values but not remove them, or the reverse.
//! The author of such an adapter may have misnamed a method, which is then never called.

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

/// The warning about a container that offers only one side. Sets and maps of `bundled` adapters may
/// only grow on purpose.
pub fn warning(codes: &[u32], bundled: bool) -> Option<String> {
    let offered: Vec<Op> = codes.iter().filter_map(|code| Op::from_code(*code)).collect();
    let among = |side: &[Op]| -> Vec<&str> {
        let there = side.iter().filter(|op| offered.contains(op));
        there.map(|op| op.name()).collect()
    };
    SIDES.iter().find_map(|(adders, removers)| {
        let is_grown = matches!(adders[0], Op::SetInsert | Op::MapPut);
        let (one, missing) = match (&among(adders)[..], &among(removers)[..]) {
            ([], []) | ([_, ..], [_, ..]) => return None,
            ([_, ..], []) if bundled && is_grown => return None,
            (one, []) => (one.join(" and "), removers),
            (_, one) => (one.join(" and "), adders),
        };
        let missing: Vec<&str> = missing.iter().map(|op| op.name()).collect();
        Some(format!(
            "the target offers {one}, but no {}: many bugs cannot show. If the class has such a \
             method, give it the name and the parameters listed in interlap.hpp",
            missing.join(" or "),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Op::*;

    fn warning_for(ops: &[Op], bundled: bool) -> Option<String> {
        warning(&ops.iter().map(|op| *op as u32).collect::<Vec<u32>>(), bundled)
    }

    #[test]
    fn one_sided_containers_are_warned_about() {
        for (ops, words) in [
            (&[Enqueue][..], "offers enqueue, but no dequeue or dequeue_bulk"),
            (&[Dequeue, DequeueBulk], "offers dequeue and dequeue_bulk, but no enqueue"),
            (&[SetInsert, SetContains], "offers insert, but no remove"),
            (&[MapGet, MapPut], "offers put, but no remove"),
        ] {
            let warning = warning_for(ops, false).expect("one side");
            assert!(warning.contains(words), "{warning}");
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
            assert_eq!(warning_for(ops, false), None);
        }
        assert_eq!(warning_for(&[SetInsert, SetContains], true), None);
        assert!(warning_for(&[SetContains, SetRemove], true).is_some());
    }
}
