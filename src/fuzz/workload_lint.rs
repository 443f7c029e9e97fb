//! What a target's operations say about its adapter. Codes of operations come in; a warning goes
//! out where what is put in can never be taken out, or the reverse: such an adapter may have meant
//! to offer more.

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

/// What to tell of a container that offers one side only. Sets and maps of `bundled` adapters are
/// like that on purpose: there are some that only grow.
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
            "the target offers {one}, but no {}: much of what may go wrong cannot show. If the \
             class has such a method, give it the name and the parameters listed in interlap.hpp",
            missing.join(" or "),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Op::*;

    fn told(ops: &[Op], bundled: bool) -> Option<String> {
        warning(&ops.iter().map(|op| *op as u32).collect::<Vec<u32>>(), bundled)
    }

    #[test]
    fn one_sided_containers_are_told() {
        for (ops, words) in [
            (&[Enqueue][..], "offers enqueue, but no dequeue or dequeue_bulk"),
            (&[Dequeue, DequeueBulk], "offers dequeue and dequeue_bulk, but no enqueue"),
            (&[SetInsert, SetContains], "offers insert, but no remove"),
            (&[MapGet, MapPut], "offers put, but no remove"),
        ] {
            let told = told(ops, false).expect("one side");
            assert!(told.contains(words), "{told}");
        }
    }

    #[test]
    fn whole_containers_and_what_only_grows_are_not() {
        for ops in [
            &[EnqueueBulk, Dequeue][..],
            &[DequePush, DequeSteal],
            &[SetInsert, SetRemove],
            &[CounterAdd, CounterRead],
            &[LogAppend, LogRead],
            &[RegisterRead, RegisterWrite],
            &[KvGet, KvPut],
        ] {
            assert_eq!(told(ops, false), None);
        }
        assert_eq!(told(&[SetInsert, SetContains], true), None);
        assert!(told(&[SetContains, SetRemove], true).is_some());
    }
}
