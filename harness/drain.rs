//! The drain: after all threads are done, one thread takes out or reads all that is left, so that a
//! lost value shows.

use interlap::core::operation::{Op, Status};

use crate::library::Role;
use crate::timebox::Outcome;
use crate::workload::Shape;

/// A drain makes so many calls more than values were added.
const SURPLUS: u64 = 16;

/// It asks so often at most how many values are inside: both questions, before and after.
const LOOKS: u64 = 4;

/// Where an "empty" answer says nothing, what is inside is lost if it does not come out in so many
/// calls in a row. Of 64 queues that two looks at random find full, one value hides so long in one
/// drain of 10^13.
const TRIES: u64 = 1000;

/// Keys that are read between the parts of a round at most.
pub const KEYS_READ_MAX: u64 = 1 << 12;

/// The calls of the drain.
enum Drain {
    /// Removes one by one until the answer is empty.
    UntilEmpty(Op),
    /// Reads every key.
    EachKey(Op),
    /// Reads a log from its first record to its end.
    EachRecord,
    /// Reads every key in one transaction.
    InTransaction,
    /// Reads once.
    Once(Op),
    /// The target offers no such operation.
    Nothing,
}

impl Drain {
    fn from_operations(operations: &[(Op, Role)]) -> Drain {
        let offers = |op: &Op| operations.iter().any(|(offered, _)| offered == op);
        use Op::*;
        let removers = [Dequeue, Pop, DequeTake, DequeSteal, PriorityPoll, DequeueBulk];
        if let Some(op) = removers.into_iter().find(offers) {
            return Drain::UntilEmpty(op);
        }
        if let Some(op) = [SetContains, MapGet, KvGet, SetRemove].into_iter().find(offers) {
            return Drain::EachKey(op);
        }
        if offers(&StoreBegin) && offers(&StoreRead) {
            return Drain::InTransaction;
        }
        if offers(&LogRead) {
            return Drain::EachRecord;
        }
        let once = [RegisterRead, CounterRead, LogCheckTail, SetSize].into_iter().find(offers);
        once.map_or(Drain::Nothing, Drain::Once)
    }
}

/// Calls that a drain makes beyond one for each value.
pub fn surplus(shape: &Shape) -> u64 {
    removals(shape) + LOOKS
}

/// Removals that a drain makes beyond one for each value.
fn removals(shape: &Shape) -> u64 {
    SURPLUS + if shape.empty_says_nothing { TRIES } else { 0 }
}

/// The thread that may empty a structure while the others of a round wait, if any may.
pub fn emptier(operations: &[(Op, Role)], threads: u32) -> Option<u32> {
    let Drain::UntilEmpty(removes) = Drain::from_operations(operations) else { return None };
    let of_it = operations.iter().filter(|(op, _)| *op == removes);
    of_it.flat_map(|(_, role)| (0..threads).find(|thread| role.admits(*thread))).next()
}

/// The thread that may read all keys of a store in one transaction, if any may and there are not
/// too many.
pub fn store_reader(operations: &[(Op, Role)], shape: &Shape) -> Option<u32> {
    if !matches!(Drain::from_operations(operations), Drain::InTransaction)
        || shape.keys() > KEYS_READ_MAX
    {
        return None;
    }
    let wanted = [Op::StoreBegin, Op::StoreRead, Op::StoreCommit];
    let may = |thread: &u32, wanted: Op| {
        operations.iter().any(|(op, role)| *op == wanted && role.admits(*thread))
    };
    (0..shape.threads).find(|thread| wanted.iter().all(|op| may(thread, *op)))
}

/// Makes a call; returns by how many values the structure has grown, too.
type MakeCall<'a> = &'a mut dyn FnMut(Op, &[i64]) -> (Outcome, i64);

/// What is known before the drain.
pub struct Known {
    /// At most so many values are inside.
    pub added: u64,
    /// So many are, by the answers.
    pub inside: i64,
    /// Methods that a target lists may wait where nothing is inside, so they are not called there.
    pub may_wait: bool,
}

/// Drains the structure while no other thread calls it; whether it was emptied.
pub fn drain(operations: &[(Op, Role)], shape: &Shape, known: Known, call: MakeCall) -> bool {
    let Known { added, mut inside, may_wait } = known;
    match Drain::from_operations(operations) {
        Drain::UntilEmpty(op) => {
            // Of several it may answer that it has fewer.
            let args: &[i64] = if op == Op::DequeueBulk { &[1] } else { &[] };
            let look = |call: MakeCall| {
                for (op, _) in operations.iter().filter(|(op, _)| op.counts_values()) {
                    call(*op, &[]);
                }
            };
            look(call);
            let mut empties = 0;
            // A broken structure may give values for ever; a few more than were added prove it.
            for _ in 0..added + removals(shape) {
                if may_wait && inside <= 0 {
                    look(call);
                    return true;
                }
                let (outcome, growth) = call(op, args);
                inside += growth;
                match outcome {
                    Outcome::Recorded(Status::Ok) => empties = 0,
                    Outcome::Recorded(Status::Empty | Status::Failed) => empties += 1,
                    _ => return false,
                }
                let may_hide = shape.empty_says_nothing && inside > 0 && empties < TRIES;
                if empties > 0 && !may_hide {
                    look(call);
                    return true;
                }
            }
        }
        Drain::EachKey(op) => {
            for key in 0..shape.keys() as i64 {
                call(op, &[key]);
            }
        }
        Drain::EachRecord => {
            for position in 0..(added + SURPLUS) as i64 {
                if call(Op::LogRead, &[position]).0 != Outcome::Recorded(Status::Ok) {
                    break;
                }
            }
        }
        Drain::InTransaction => {
            call(Op::StoreBegin, &[]);
            for key in 0..shape.keys() as i64 {
                call(Op::StoreRead, &[key]);
            }
            call(Op::StoreCommit, &[]);
        }
        Drain::Once(op) => {
            call(op, &[]);
        }
        Drain::Nothing => {}
    }
    false
}

#[cfg(test)]
mod tests {
    use interlap::core::plan::Plan;
    use interlap::trace::frame::TargetInfo;

    use super::*;

    /// Drains a queue of three values that answers "empty" so many times before each of them;
    /// whether it was emptied, and how many calls that took.
    fn drained(model: &str, hides: u64, may_wait: bool) -> (bool, u64) {
        let info = TargetInfo {
            library: String::new(),
            version: String::new(),
            model: model.into(),
            operations: Vec::new(),
            thread_max: 0,
            capacity: 0,
            block_size: 0,
        };
        let operations = [(Op::Enqueue, Role::Any), (Op::Dequeue, Role::Any)];
        let plan = Plan::new("x", 1);
        let shape = Shape::draw(&plan, &operations, &info, 20);
        let (mut left, mut calls) = (3, 0);
        let emptied =
            drain(&operations, &shape, Known { added: 3, inside: 3, may_wait }, &mut |_, _| {
                calls += 1;
                if left == 0 || calls % (hides + 1) != 0 {
                    return (Outcome::Recorded(Status::Empty), 0);
                }
                left -= 1;
                (Outcome::Recorded(Status::Ok), -1)
            });
        (emptied, calls)
    }

    #[test]
    fn an_empty_answer_ends_it_unless_it_says_nothing() {
        let asked = |model, hides| drained(model, hides, false);
        assert_eq!(asked("fifo", 0), (true, 4));
        assert_eq!(asked("fifo", 1), (true, 1));
        assert_eq!(asked("fifo:empty=none", 0), (true, 4));
        assert_eq!(asked("fifo:empty=none", 9), (true, 31));
        // What does not come out is lost.
        assert_eq!(asked("fifo:empty=none", TRIES), (true, TRIES));
        // It might wait for ever.
        assert_eq!(drained("fifo", 0, true), (true, 3));
        assert_eq!(drained("fifo:empty=none", 9, true), (true, 30));
    }
}
