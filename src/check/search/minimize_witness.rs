//! Minimizes the witness of a history that the general search found no order for: finds the few
//! operations of a queue, stack or deque that already contradict each other. The caller says how to
//! judge a shorter history.
//!
//! Values are left out, everywhere, many at a time first, then fewer (Zeller and Hildebrandt,
//! "Simplifying and Isolating Failure-Inducing Input", TSE 2002). An order that explains a history
//! explains it without some of the values, too: to take an element out of a sequence or a bag
//! changes nothing for the others. So if the rest has no order, neither has the whole.

use std::collections::HashSet;

use crate::check::data::values::{added_by, taken_by};
use crate::check::data::witnesses::UNEXPLAINED;
use crate::check::explanation::{Explanation, OfSearch};
use crate::check::verdict::Witness;
use crate::core::history::{Entry, History, OperationId, Thread};
use crate::core::operation::Op;
use crate::model::{Kind, Spec};

/// Values up to which a history is cut down, and histories that are judged on the way.
const VALUES_MAX: usize = 512;
const JUDGED_MAX: usize = 300;

/// What remains of a history: some values.
struct Minimization<'a> {
    history: &'a History,
    keep: Vec<i64>,
    /// How many more may be judged.
    left: usize,
}

/// The witness of a history that has no order, as short as leaving out values makes it; none where
/// its "empty" answers or its end are part of the contradiction, or it is too long. `contradicts`
/// says of a history for certain that no order explains it.
pub fn minimize(
    history: &History,
    spec: &Spec,
    contradicts: &dyn Fn(&History) -> bool,
) -> Option<Witness> {
    let keyed = matches!(spec.kind, Kind::Set | Kind::Map | Kind::Register);
    // A call that may not have happened may have taken any value.
    let open = history.ids().any(|id| history.operation(id).status.is_open());
    let values = values(history);
    if keyed || open || values.len() > VALUES_MAX {
        return None;
    }
    let mut cut = Minimization { history, keep: values, left: JUDGED_MAX };
    if !contradicts(&cut.only(&cut.keep).0) {
        return None;
    }
    while cut.shorten(contradicts) {}
    Some(cut.witness())
}

/// All values that are added or taken, in the order of the calls.
fn values(history: &History) -> Vec<i64> {
    let mut ids: Vec<_> = history.ids().collect();
    ids.sort_by_key(|id| history.operation(*id).start);
    let mut values: Vec<i64> = Vec::new();
    for id in ids {
        let (thread, operation) = (&history.threads[id.thread as usize], history.operation(id));
        values.extend(added_by(thread, operation));
        values.extend(taken_by(thread, operation));
    }
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(*value));
    values
}

impl Minimization<'_> {
    /// Leaves out what it can, in pieces of a half down to single values; whether there was any.
    fn shorten(&mut self, contradicts: &dyn Fn(&History) -> bool) -> bool {
        let before = self.keep.len();
        let mut size = before.div_ceil(2);
        loop {
            let mut at = 0;
            while at < self.keep.len() && self.left > 0 {
                let mut fewer = self.keep.clone();
                fewer.drain(at..(at + size).min(fewer.len()));
                self.left -= 1;
                match contradicts(&self.only(&fewer).0) {
                    true => self.keep = fewer,
                    false => at += size,
                }
            }
            if size == 1 {
                return self.keep.len() < before && self.left > 0;
            }
            size = size.div_ceil(2);
        }
    }

    /// The history with these values alone: operations that add or take none of them are left out,
    /// "empty" answers and the end too. Also which operations remain.
    fn only(&self, keep: &[i64]) -> (History, Vec<OperationId>) {
        let mut rest = History { drained: false, waits: false, ..self.history.without_threads() };
        let mut ids = Vec::new();
        let keep: HashSet<i64> = keep.iter().copied().collect();
        let kept = |values: &[i64]| -> Vec<i64> {
            values.iter().copied().filter(|value| keep.contains(value)).collect()
        };
        for (at, thread) in self.history.threads.iter().enumerate() {
            let mut fewer = Thread::new(thread.client);
            for (index, operation) in thread.operations().iter().enumerate() {
                let (adds, takes) =
                    (kept(added_by(thread, operation)), kept(taken_by(thread, operation)));
                if adds.is_empty() && takes.is_empty() {
                    continue;
                }
                let id = OperationId { thread: at as u32, index: index as u32 };
                // A bulk removal asks for as many as it still gets: that it got no more than it
                // asked for says nothing of what was left out.
                let asked = [takes.len() as i64];
                let args = if operation.op == Op::DequeueBulk { &asked[..] } else { &adds };
                let entry = Entry { args, results: &takes, ..self.history.entry(id) };
                fewer.push(entry).expect("a part of what was there");
                ids.push(id);
            }
            rest.threads.push(fewer);
        }
        ids.sort_by_key(|id| self.history.operation(*id).start);
        (rest, ids)
    }

    fn witness(&self) -> Witness {
        let operations = self.only(&self.keep).1;
        let last = operations.iter().max_by_key(|id| self.history.operation(**id).end);
        let explanation = Explanation::Search(OfSearch::OfValues {
            values: self.keep.clone(),
            count: operations.len(),
            last: *last.expect("no history without operations is contradicted"),
        });
        Witness::new(UNEXPLAINED, explanation, operations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::decide::by_search as search;
    use crate::check::decide::check;
    use crate::check::verdict::{Limits, Verdict};
    use crate::core::operation::Status;
    use crate::core::random::Random;

    fn push(history: &mut History, client: u32, op: Op, at: (u64, u64), io: (&[i64], &[i64])) {
        let (status, (start, end), (args, results)) = (Status::Ok, at, io);
        let entry = Entry { op, status, start, end, args, results };
        history.push(client, entry).expect("in order");
    }

    fn spec() -> Spec {
        "fifo-per-producer:bulk=atomic".parse().expect("a model")
    }

    /// A bulk dequeue that reads one producer's queue, is overtaken, and goes on with another's.
    fn overtaken() -> History {
        let mut history = History::default();
        let h = &mut history;
        for n in 0..40 {
            push(h, 3, Op::Enqueue, (n, n), (&[900 + n as i64], &[]));
        }
        push(h, 1, Op::EnqueueBulk, (50, 60), (&[100, 101, 102, 103, 104], &[]));
        push(h, 0, Op::DequeueBulk, (72, 80), (&[9], &[103, 104]));
        push(h, 2, Op::DequeueBulk, (70, 100), (&[9], &[100, 101, 102, 0]));
        push(h, 0, Op::EnqueueBulk, (90, 95), (&[0, 1], &[]));
        for n in 0..40 {
            push(h, 3, Op::Dequeue, (110 + n, 110 + n), (&[], &[900 + n as i64]));
        }
        history
    }

    #[test]
    fn what_makes_no_difference_is_left_out() {
        let history = overtaken();
        let Verdict::Violation(witness) = check(&history, &spec(), &Limits::default()) else {
            panic!("a bulk dequeue in two steps")
        };
        let ops: Vec<&str> =
            witness.operations.iter().map(|id| history.operation(*id).op.name()).collect();
        let expected = ["enqueue_bulk", "dequeue_bulk", "dequeue_bulk", "enqueue_bulk"];
        assert_eq!(ops, expected, "{witness:?}");
        let Explanation::Search(OfSearch::OfValues { values, .. }) = &*witness.explanation else {
            panic!("{witness:?}")
        };
        assert!(values.iter().all(|value| *value < 900), "{values:?}");
    }

    /// What everything rests on: parts of a history that has an order have one.
    #[test]
    fn a_part_of_a_good_history_is_good() {
        for (seed, model) in (0..600).zip(["fifo", "lifo", "fifo-per-producer"].iter().cycle()) {
            let spec: Spec = format!("{model}:empty=none").parse().expect("a model");
            let mut random = Random::new(seed);
            let history = simulated(&spec, &mut random);
            assert_eq!(search(&history, &spec, &Limits::default()), Verdict::Consistent);
            let keep: Vec<i64> = (0..100).filter(|_| random.one_in(2)).collect();
            let cut = Minimization { history: &history, keep: Vec::new(), left: 0 };
            let part = cut.only(&keep).0;
            assert_eq!(search(&part, &spec, &Limits::default()), Verdict::Consistent, "{seed}");
        }
    }

    /// Operations that take effect one after the other, in boxes that overlap.
    fn simulated(spec: &Spec, random: &mut Random) -> History {
        let (mut history, mut inside) = (History::default(), Vec::new());
        let (add, take) = match spec.kind {
            Kind::Lifo => (Op::Push, Op::Pop),
            _ => (Op::Enqueue, Op::Dequeue),
        };
        for n in 0..20u64 {
            // Each thread has every third turn; its box ends before its next begins.
            let (client, at) = (n as u32 % 3, n * 10);
            let time = (at.saturating_sub(random.below(14)), at + random.below(14));
            if inside.is_empty() || random.one_in(2) {
                inside.push(n as i64);
                push(&mut history, client, add, time, (&[n as i64], &[]));
            } else {
                let from = if spec.kind == Kind::Lifo { inside.len() - 1 } else { 0 };
                let value = inside.remove(from);
                push(&mut history, client, take, time, (&[], &[value]));
            }
        }
        history
    }
}
