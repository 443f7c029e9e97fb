//! The stack checker. A history of pushes and pops of distinct values comes in, the first broken
//! rule goes out. Exact where every pop has an answer; otherwise what it finds broken is, and the
//! general search must decide the rest. Does not know that search.
//!
//! No finite set of small patterns characterises a stack, but decreasing does (Lee and Mathur,
//! OOPSLA 2025; the covers are those of Abdulla et al., PLDI 2025). A value covers the time from
//! the end of its push to the start of its pop. At an instant that no value covers the stack may be
//! empty, and some order has it empty at all of them: so whatever operation's box contains such an
//! instant can happen there. Once a value's push and pop both can, the value is gone with its
//! cover, which may uncover further instants. The history is a stack's exactly if nothing remains.

use super::cover::{Crowd, covering};
use super::events::{Event, Events};
use super::removals::{self, Broken, Taken};
use super::segments::{Coverage, Stabbing};
use super::values::{Bits, Values, added_by, taken_by};
use super::{Witness, witness};
use crate::history::{History, OperationId};
use crate::model::{Empty, Spec};
use crate::operation::Status;

/// Rank of an event that does not happen.
const NONE: u32 = u32::MAX;

/// Where the calls and returns of a value's push and pop stand among all events.
#[derive(Clone, Copy)]
struct Ranks {
    push_call: u32,
    push_return: u32,
    pop_call: u32,
    pop_return: u32,
}

const UNSEEN: Ranks =
    Ranks { push_call: NONE, push_return: NONE, pop_call: NONE, pop_return: NONE };

impl Ranks {
    /// Whether the value covers some instant: others overlap their pop and matter to nobody.
    fn covers(&self) -> bool {
        self.push_return != NONE && (self.pop_call == NONE || self.push_return < self.pop_call)
    }
}

/// An "empty" answer that is judged: ranks of its call and return.
type Answer = (u32, u32, OperationId);

/// The first broken rule of a stack, if any.
pub fn judge(history: &History, spec: &Spec, values: &Values) -> Result<(), Broken> {
    let table = removals::removals(history, values)?.table;
    removals::lost(history, values, &table)?;
    let (ranks, answers) = rank(history, spec, values)?;
    let live: Vec<u32> =
        (0..ranks.len() as u32).filter(|at| ranks[*at as usize].covers()).collect();
    let line = Line::of(&ranks, &live, 2 * history.len());
    let coverage = line.coverage(&ranks, &live);
    for answer in &answers {
        if !line.uncovered(&coverage, answer) {
            return Err(Broken::excusable(covered(history, values, &table, answer.2)));
        }
    }
    drop(table);
    let left = decrease(&line, coverage, &ranks, &live);
    if left.is_empty() {
        return Ok(());
    }
    Err(Broken::excusable(unordered(history, values, &ranks, &left)))
}

/// Ranks every event; drops the "empty" answers that the model does not judge.
fn rank(
    history: &History,
    spec: &Spec,
    values: &Values,
) -> Result<(Vec<Ranks>, Vec<Answer>), Broken> {
    let mut ranks = vec![UNSEEN; values.len()];
    let mut answers = Vec::new();
    let mut crowd = Crowd::new(history.threads.len());
    let mut called = vec![0; history.threads.len()];
    for (rank, event) in Events::new(history).enumerate() {
        let (rank, thread) = (rank as u32, event.id.thread as usize);
        let values_of = |of: &[i64]| of.first().and_then(|value| values.get(*value));
        let Event { operation, returns, .. } = event;
        let owner = &history.threads[thread];
        if operation.op.adds() {
            let Some(number) = values_of(added_by(owner, operation)) else { continue };
            let at = &mut ranks[number];
            if returns {
                at.push_return = rank
            } else {
                at.push_call = rank
            }
            continue;
        }
        if !returns {
            crowd.enter(event.id.thread);
            called[thread] = rank;
        }
        if let Some(number) = values_of(taken_by(owner, operation)) {
            let at = &mut ranks[number];
            if returns {
                at.pop_return = rank
            } else {
                at.pop_call = rank
            }
            if returns && at.push_call == NONE {
                let value = taken_by(owner, operation)[0];
                return Err(Broken::certain(witness::from_nowhere(history, value)));
            }
        }
        if returns {
            let lone = crowd.leave(event.id.thread);
            let judged = spec.empty == Empty::Strong || (spec.empty == Empty::Lone && lone);
            if operation.status == Status::Empty && judged {
                answers.push((called[thread], rank, event.id));
            }
        }
    }
    Ok((ranks, answers))
}

/// Time in segments: maximal runs of slots (a slot lies between two events) with equal coverage.
struct Line {
    /// By rank: whether coverage changes there.
    changes: Bits,
    /// By word of `changes`: how many changes lie before it.
    before: Vec<u32>,
    /// Segments of the history itself.
    segments: u32,
    /// Whether values remain on the stack at the end: one more segment takes their pops.
    tail: bool,
}

impl Line {
    fn of(ranks: &[Ranks], live: &[u32], events: usize) -> Line {
        let (mut changes, mut tail) = (Bits::new(events + 1), false);
        for value in live {
            let at = ranks[*value as usize];
            changes.insert(at.push_return as usize);
            if at.pop_call == NONE {
                tail = true;
            } else {
                changes.insert(at.pop_call as usize);
            }
        }
        let (mut before, mut count) = (Vec::with_capacity(changes.words().len()), 0);
        for word in changes.words() {
            before.push(count);
            count += word.count_ones();
        }
        Line { changes, before, segments: count + 1, tail }
    }

    fn len(&self) -> usize {
        self.segments as usize + usize::from(self.tail)
    }

    /// The segment of the slot after the event of this rank.
    #[inline]
    fn segment(&self, rank: u32) -> u32 {
        let word = self.changes.words()[rank as usize / 64];
        self.before[rank as usize / 64] + (word & (!0 >> (63 - rank % 64))).count_ones()
    }

    /// The segments that a value covers, end excluded.
    #[inline]
    fn cover(&self, at: &Ranks) -> (u32, u32) {
        let end = if at.pop_call == NONE { self.segments } else { self.segment(at.pop_call) };
        (self.segment(at.push_return), end)
    }

    /// How many values cover each segment.
    fn coverage(&self, ranks: &[Ranks], live: &[u32]) -> Vec<i32> {
        let mut coverage = vec![0; self.len() + 1];
        for value in live {
            let (from, to) = self.cover(&ranks[*value as usize]);
            coverage[from as usize] += 1;
            coverage[to as usize] -= 1;
        }
        let mut count = 0;
        for change in &mut coverage {
            count += *change;
            *change = count;
        }
        coverage.truncate(self.len());
        coverage
    }

    fn uncovered(&self, coverage: &[i32], answer: &Answer) -> bool {
        let (from, to) = (self.segment(answer.0), self.segment(answer.1 - 1));
        coverage[from as usize..=to as usize].contains(&0)
    }

    /// The segments in which a value's push and its pop can happen, ends included. A value that
    /// remains is popped after everything else.
    fn boxes(&self, at: &Ranks) -> [(u32, u32); 2] {
        let push = (self.segment(at.push_call), self.segment(at.push_return - 1));
        if at.pop_call == NONE {
            return [push, (self.segments, self.segments)];
        }
        [push, (self.segment(at.pop_call), self.segment(at.pop_return - 1))]
    }
}

/// Takes away value after value that can be; what remains are the ones that cannot.
fn decrease(line: &Line, coverage: Vec<i32>, ranks: &[Ranks], live: &[u32]) -> Vec<u32> {
    let boxes = live.iter().flat_map(|value| line.boxes(&ranks[*value as usize]));
    let mut stabbing = Stabbing::new(boxes, line.len());
    let mut coverage = Coverage::new(&coverage);
    let mut half = Bits::new(live.len());
    let mut left = Bits::new(live.len());
    (0..live.len()).for_each(|at| left.insert(at));
    let mut gone = Vec::new();
    while let Some(segment) = coverage.take_zero() {
        stabbing.take(segment as u32, &mut |operation| {
            let at = operation as usize / 2;
            if half.contains(at) {
                gone.push(at);
            }
            half.insert(at);
        });
        for at in gone.drain(..) {
            left.toggle(at);
            let (from, to) = line.cover(&ranks[live[at] as usize]);
            coverage.add(from as usize, to as usize, -1);
        }
    }
    (0..live.len()).filter(|at| left.contains(*at)).map(|at| live[at]).collect()
}

fn covered(history: &History, values: &Values, table: &[Taken], empty: OperationId) -> Witness {
    let operation = history.operation(empty);
    let span = (operation.start, operation.end);
    let inside = covering(history, values, table, span, None);
    witness::empty_while_full(history, empty, &inside)
}

/// What remains of `values` after decreasing them alone.
fn stuck(ranks: &[Ranks], values: &[u32], events: usize) -> Vec<u32> {
    let line = Line::of(ranks, values, events);
    decrease(&line, line.coverage(ranks, values), ranks, values)
}

/// A smallest part of `left` that still cannot be ordered: leaving out any value of it makes it
/// one that can. (A part of a stack's history is a stack's history.)
fn smallest(ranks: &[Ranks], left: &[u32], events: usize) -> Vec<u32> {
    let mut kept = left.to_vec();
    let mut chunk = kept.len().div_ceil(2);
    loop {
        let mut at = 0;
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.drain(at..(at + chunk).min(kept.len()));
            match stuck(ranks, &fewer, events) {
                rest if rest.is_empty() => at += chunk,
                rest => kept = rest,
            }
        }
        if chunk == 1 {
            return kept;
        }
        chunk = chunk.div_ceil(2).min(kept.len().div_ceil(2)).max(1);
    }
}

/// The values that cannot be ordered, by name.
fn unordered(history: &History, values: &Values, ranks: &[Ranks], left: &[u32]) -> Witness {
    let numbers = smallest(ranks, left, 2 * history.len());
    let mut named = Vec::new();
    for thread in &history.threads {
        for &value in thread.operations().iter().flat_map(|o| added_by(thread, o)) {
            let number = values.get(value).expect("added values have numbers") as u32;
            if numbers.contains(&number) {
                named.push(value);
            }
        }
    }
    witness::unstacked(history, &named)
}
