//! Checks a queue whose bulk calls move their elements one after another. Exact where no value was
//! added twice and every dequeue has an answer; the rules of [`super::fifo`] hold already.
//!
//! Each element has the timeboxes of the two calls that move it. An order of the values explains
//! all but "empty" answers if and only if, of two values `a` and `b`, `a` comes first where
//! - the enqueue of `a` returned before that of `b` was called, or its dequeue before that of `b`;
//! - the dequeue of `a` returned before the enqueue of `b` was called;
//! - `a` comes before `b` in one bulk call.
//!
//! In such an order, an element may be added at the latest start of an addition up to it, and taken
//! at the earliest end of a removal from it on: the conditions say that both are in their boxes,
//! and the one before the other. So there is an order unless the conditions make a cycle.
//!
//! The queue can be empty at an instant `t` if none of the values `A(t)` is moved by a call that
//! starts later. `A(t)` is every value of which a call ended before `t`, and all before it in their
//! bulk calls. It only grows with `t`, so that one walk over the ends finds all such instants; each
//! "empty" answer needs one in its timebox, and no two of them are at odds.

use crate::check::data::empty_answers::not_promised;
use crate::check::data::small::Small;
use crate::check::data::values::{Values, added_by, taken_by};
use crate::check::exact::removals::any_open;
use crate::check::search::history::unexplained;
use crate::check::verdict::{Verdict, Witness};
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::Status;
use crate::model::{Bulk, Spec};

#[derive(Clone, Copy)]
struct Timebox {
    start: u64,
    end: u64,
    thread: u32,
}

const NO_CALL: Timebox = Timebox { start: NEVER, end: NEVER, thread: 0 };

const CALLS: [usize; 2] = [ENQUEUE, DEQUEUE];
const ENQUEUE: usize = 0;
const DEQUEUE: usize = 1;

/// A value, with one entry for its enqueue and one for its dequeue.
#[derive(Clone, Copy)]
struct Moved {
    by: [Timebox; 2],
    /// The values next to it in each call.
    before: [Option<usize>; 2],
    after: [Option<usize>; 2],
}

/// All responses up to one: its time and its thread.
type Cut = (u64, u32);

/// A time, or what is between it and the next.
type Instant = (u64, bool);

struct Queue {
    moved: Vec<Moved>,
    /// The "empty" answers that the model promises to be true.
    empty: Vec<Timebox>,
}

/// None where it is not exact.
pub fn check(history: &History, spec: &Spec, values: &Values) -> Option<Verdict> {
    if spec.bulk == Bulk::Atomic || any_open(history) {
        return None;
    }
    let queue = Queue::new(history, spec, values);
    Some(match queue.is_explained() {
        true => Verdict::Consistent,
        false => Verdict::Violation(queue.witness(history)),
    })
}

impl Queue {
    fn new(history: &History, spec: &Spec, values: &Values) -> Queue {
        let thread = |id: OperationId| &history.threads[id.thread as usize];
        let mut taken = Small::from_elem(NO_CALL, values.len());
        for id in history.ids() {
            for value in taken_by(thread(id), history.operation(id)) {
                taken[values.get(*value).expect("the rules hold")] = timebox(history, id);
            }
        }
        let mut queue = Queue { moved: Vec::new(), empty: empty_answers(history, spec) };
        let mut place = Small::from_elem(usize::MAX, values.len());
        for id in history.ids() {
            let operation = history.operation(id);
            let number = |value: &i64| values.added(id.thread as usize, *value);
            // Of a call without an answer, what comes after the last that was taken need not exist.
            let matters = |value: &i64| operation.end < NEVER || taken[number(value)].start < NEVER;
            let added = added_by(thread(id), operation);
            let count = added.iter().rposition(matters).map_or(0, |last| last + 1);
            let first = queue.moved.len();
            for value in &added[..count] {
                place[number(value)] = queue.moved.len();
                let by = [timebox(history, id), taken[number(value)]];
                queue.moved.push(Moved { by, before: [None; 2], after: [None; 2] });
            }
            queue.link(ENQUEUE, first..queue.moved.len());
        }
        for id in history.ids() {
            let results = taken_by(thread(id), history.operation(id)).iter();
            let number = |value: &i64| values.get(*value).expect("the rules hold");
            queue.link(DEQUEUE, results.map(|value| place[number(value)]));
        }
        queue
    }

    /// One call moved these values, in this order.
    fn link(&mut self, call: usize, values: impl Iterator<Item = usize>) {
        let mut before = None;
        for value in values {
            self.moved[value].before[call] = before;
            if let Some(before) = before {
                self.moved[before].after[call] = Some(value);
            }
            before = Some(value);
        }
    }

    fn is_explained(&self) -> bool {
        have_an_order(&self.moved) && can_be_empty(&self.moved, self.empty.iter())
    }

    /// Whether the responses up to one are explained, if those after it may still come.
    fn explains(&self, cut: Cut) -> bool {
        let is_over = |call: &Timebox| (call.end, call.thread) <= cut;
        let mut moved = self.moved.clone();
        for call in moved.iter_mut().flat_map(|value| &mut value.by) {
            call.end = if is_over(call) { call.end } else { NEVER };
        }
        let empty = self.empty.iter().filter(|answer| is_over(answer));
        have_an_order(&moved) && can_be_empty(&moved, empty)
    }

    /// The first response that cannot be explained, and what was under way when it came.
    fn witness(&self, history: &History) -> Witness {
        let cut = |id: OperationId| (history.operation(id).end, id.thread);
        let mut responses: Vec<OperationId> = history.ids().collect();
        responses.sort_by_key(|id| cut(*id));
        let failed = responses[responses.partition_point(|id| self.explains(cut(*id)))];
        let end = history.operation(failed).end;
        let is_under_way =
            |id: &OperationId| history.operation(*id).start <= end && cut(*id) > cut(failed);
        unexplained(failed, history.ids().filter(is_under_way).collect())
    }
}

fn timebox(history: &History, id: OperationId) -> Timebox {
    let operation = history.operation(id);
    Timebox { start: operation.start, end: operation.end, thread: id.thread }
}

fn empty_answers(history: &History, spec: &Spec) -> Vec<Timebox> {
    let is_empty = |id: &OperationId| {
        let operation = history.operation(*id);
        operation.op.removes() && operation.status == Status::Empty
    };
    let not_promised = not_promised(history, spec);
    let promised = history.ids().filter(is_empty).filter(|id| !not_promised.contains(id));
    promised.map(|id| timebox(history, id)).collect()
}

/// The values by a time of one of their calls.
fn by_time(moved: &[Moved], call: usize, time: fn(&Timebox) -> u64) -> Vec<(u64, usize)> {
    let mut times: Vec<_> = moved.iter().map(|value| time(&value.by[call])).zip(0..).collect();
    times.sort_unstable();
    times
}

/// Whether the conditions make no cycle (Kahn, CACM 1962): values leave one after another, each
/// once all that come before it have left.
fn have_an_order(moved: &[Moved]) -> bool {
    let starts = CALLS.map(|call| by_time(moved, call, |timebox| timebox.start));
    let ends = CALLS.map(|call| by_time(moved, call, |timebox| timebox.end));
    let (mut started, mut ended) = ([0; 2], [0; 2]);
    let mut waits: Vec<_> = moved.iter().map(|v| 2 + v.before.iter().flatten().count()).collect();
    let (mut is_over, mut free) = (vec![false; moved.len()], Vec::new());
    let mut release = |value: usize, free: &mut Vec<usize>| {
        waits[value] -= 1;
        if waits[value] == 0 {
            free.push(value);
        }
    };
    for _ in moved {
        let first = CALLS.map(|call| {
            let over = ends[call][ended[call]..].iter().take_while(|(_, value)| is_over[*value]);
            ended[call] += over.count();
            ends[call][ended[call]].0
        });
        let until = [first[ENQUEUE].min(first[DEQUEUE]), first[DEQUEUE]];
        for call in CALLS {
            for (_, value) in
                starts[call][started[call]..].iter().take_while(|(start, _)| *start <= until[call])
            {
                started[call] += 1;
                release(*value, &mut free);
            }
        }
        let Some(value) = free.pop() else { return false };
        is_over[value] = true;
        moved[value].after.iter().flatten().for_each(|after| release(*after, &mut free));
    }
    true
}

/// Whether the queue can be empty in each of these timeboxes.
fn can_be_empty<'a>(moved: &[Moved], mut boxes: impl Iterator<Item = &'a Timebox>) -> bool {
    let mut spans = None;
    boxes.all(|timebox| {
        let spans = spans.get_or_insert_with(|| empty_instants(moved));
        let next = spans.partition_point(|(_, last)| *last < (timebox.start, false));
        spans.get(next).is_some_and(|(first, _)| *first <= (timebox.end, false))
    })
}

/// When the queue can be empty: spans of instants, from the first to the last of each, by time.
fn empty_instants(moved: &[Moved]) -> Vec<(Instant, Instant)> {
    let mut ends: Vec<_> =
        CALLS.iter().flat_map(|call| by_time(moved, *call, |timebox| timebox.end)).collect();
    ends.sort_unstable();
    let (mut spans, mut is_in, mut before) = (Vec::new(), vec![false; moved.len()], Vec::new());
    // Since when those that are in are A, and the latest start of a call that moves one of them.
    let (mut since, mut latest) = ((0, false), 0);
    for (end, value) in ends.into_iter().chain([(NEVER, usize::MAX)]) {
        let first = since.max((latest, false));
        if first <= (end, false) {
            spans.push((first, (end, false)));
        }
        if end == NEVER {
            break;
        }
        since = (end, true);
        before.push(value);
        while let Some(value) = before.pop() {
            if !std::mem::replace(&mut is_in[value], true) {
                let Moved { by, before: next, .. } = &moved[value];
                latest = by.iter().fold(latest, |latest, timebox| latest.max(timebox.start));
                before.extend(next.iter().flatten());
            }
        }
    }
    spans
}
