//! How a finding came about: what its threads did between the calls and the answers, as a table. In
//! come a round of the controlled engine with its trail, the calls to tell about and the sources;
//! out go rows, of which those that matter are marked. Runs nothing and prints nothing.
//!
//! What matters are accesses that another thread can tell: memory that several threads use and one
//! of them changes while those calls are under way. Like the traces of Lincheck (Koval et al.:
//! Lincheck: A Practical Framework for Testing Concurrent Data Structures on JVM, CAV 2023).
//!
//! - `delayed`: Stores that waited in store buffers.
//! - `fault`: The last thing that a thread did, where that was a fault that the engine saw coming:
//!   what is known of it comes in, the row of the table that tells it goes out.
//! - `matters`: Which events of a trail matter: those by which threads can notice each other while
//!   certain calls are under way.
//! - `memory`: Names of memory: `#3+8` is byte 8 of the third block that the round allocated;
//!   `#3.next` is a member of it, and `head.next` one of the structure under test, where their
//!   types are known.
//! - `source`: Source places of a trail's events.
//! - `written`: What plain writes left in memory.

mod delayed;
mod fault;
mod matters;
mod memory;
mod source;
mod written;

use crate::binary::members::Types;
use crate::binary::symbols::SourceLines;
use crate::core::history::{NEVER, OperationId};
use crate::finding::interleaving::{Action, Answer, Call, Interleaving, Row, What};
use crate::finding::source_text::Texts;
use crate::finding::{self, FaultPlace, Stored};
use crate::trace::frame::{Deed, When};
use crate::trace::rounds::Round;
use crate::trace::trail::{Act, Event};
use matters::Under;
use memory::Memory;

/// A round with no more calls is told as a whole.
const SMALL_ROUND: usize = 12;

/// The table of the stored finding's round, as it was run `again` with a trail and showed `what`,
/// in which memory and calls get their names; none without one.
pub fn interleaving(
    stored: &Stored,
    (again, what): (&Round, &mut finding::What),
    lines: &mut SourceLines,
) -> Option<Interleaving> {
    let steps = again.end.steps.as_ref()?;
    let trail = &written::settled(&delayed::noticed(steps.trail.as_ref()?));
    let story = Story { stored, trail };
    let types = Types::load(lines.library());
    let mut memory = Memory::of(trail, &types);
    let freed = fault::freed(what, trail);
    let mut rows = story.rows(lines, &mut memory, freed);
    fault::name(what, &|address| memory.place(address), &|place| story.call_of(place, freed));
    rows.extend(fault::row(what, steps.steps).map(|row| ((u64::MAX, 3, 0), row)));
    rows.sort_by_key(|(at, _)| *at);
    let mut rows = with_stops(rows.into_iter().map(|(_, row)| row).collect());
    rows.extend(fault::ends(what, steps.steps));
    Some(Interleaving { rows, cut: trail.len() >= crate::trace::trail::EVENTS_MAX })
}

/// A trail of the stored finding's round, each event with whether other threads could notice it.
pub fn marked(stored: &Stored, trail: &[Event]) -> Vec<(Event, bool)> {
    let trail = written::settled(&delayed::noticed(trail));
    let under_way = Story { stored, trail: &trail }.under_way();
    let matters = matters::of(&trail, &under_way).into_iter().map(|mark| mark.matters);
    trail.iter().copied().zip(matters).collect()
}

/// Rows in order: of one step a call comes before what it does, and an answer behind.
type At = (u64, u8, usize);

struct Story<'a> {
    stored: &'a Stored,
    trail: &'a [Event],
}

impl Story<'_> {
    /// `memory` knows all blocks afterwards. It is told when the block was `freed` that a fault is
    /// about.
    fn rows(
        &self,
        lines: &mut SourceLines,
        memory: &mut Memory,
        freed: Option<&Event>,
    ) -> Vec<(At, Row)> {
        let (mut rows, mut texts) = (self.calls(), Texts::default());
        let told = self.under_way();
        let matters = matters::of(self.trail, &told);
        let sources = source::without_known_callers(source::of_events(self.trail, lines));
        for (at, event) in self.trail.iter().enumerate() {
            memory.note(event);
            if is_point_of_release(&self.trail[at..]) {
                continue;
            }
            // Who holds its address may take it for what was there before.
            let reuses = event.act == Act::Allocate
                && memory.former(event.address).is_some()
                && told.iter().any(|call| call.has(event));
            let is_freed = freed.is_some_and(|freed| std::ptr::eq(freed, event));
            let tells = reuses || is_freed;
            let from = if is_of_access(&self.trail[..=at]) { at - 1 } else { at };
            let source = sources[from].clone().filter(|_| event.code != 0);
            let place = source.map(|source| texts.place(source));
            let row = Row {
                step: event.step,
                thread: event.thread,
                what: What::Act { did: action(event, memory), times: 1, place },
                matters: matters[at].matters || tells,
                is_news: matters[at].is_news || tells,
                crosses: matters[at].crosses || is_freed,
                delayed: event.act == Act::Buffer,
                container: memory.container(event),
                changes: matters::changes_memory(event),
            };
            rows.push(((event.step, 1, at), row));
        }
        rows
    }

    /// The calls to tell about: those that the report is about, and all under way meanwhile; of a
    /// small round all, for what went wrong may show long after it happened.
    fn told(&self) -> Vec<OperationId> {
        let history = &self.stored.round.history;
        let drain = self.stored.round.start.threads;
        let of_caller = |id: &OperationId| history.threads[id.thread as usize].client < drain;
        let all: Vec<OperationId> = history.ids().filter(of_caller).collect();
        let (shown, operation) = (self.stored.told(), |id: &OperationId| history.operation(*id));
        let first = shown.iter().map(|id| operation(id).start).min().unwrap_or(0);
        let last = shown.iter().map(|id| operation(id).end).max().unwrap_or(NEVER);
        let small = all.len() <= SMALL_ROUND;
        let meanwhile =
            |id: &OperationId| operation(id).end >= first && operation(id).start <= last;
        let all = all.into_iter().filter(|id| small || meanwhile(id));
        all.chain(shown.iter().copied()).collect()
    }

    fn under_way(&self) -> Vec<Under> {
        let history = &self.stored.round.history;
        let under = |id: OperationId| {
            let operation = history.operation(id);
            let thread = history.threads[id.thread as usize].client;
            Under { thread, steps: operation.start..=operation.end }
        };
        self.told().into_iter().map(under).collect()
    }

    fn calls(&self) -> Vec<(At, Row)> {
        let (history, told) = (&self.stored.round.history, self.told());
        let mut rows = Vec::new();
        for id in history.ids() {
            let operation = history.operation(id);
            let matters = told.contains(&id);
            let thread = history.threads[id.thread as usize].client;
            let row =
                |step, what| Row { is_news: matters, matters, ..Row::new(step, thread, what) };
            let call = What::Call(self.call(id));
            rows.push(((operation.start, 0, 0), row(operation.start, call)));
            if operation.end != NEVER {
                rows.push((
                    (operation.end, 2, 0),
                    row(operation.end, What::Answer(self.answer(id))),
                ));
            }
        }
        rows
    }

    /// The call that a fault's place is in, as far as it is certain which that is.
    fn call_of(&self, place: &FaultPlace, freed: Option<&Event>) -> Option<Call> {
        let (thread, When::InCall(_)) = (place.who.thread, place.who.when) else { return None };
        let step = match place.deed {
            Deed::HadFreed { .. } => freed.filter(|of| of.thread == thread)?.step,
            Deed::HadAllocated { .. } => return None,
            _ => NEVER,
        };
        let history = &self.stored.round.history;
        let holds = |id: &OperationId| {
            let operation = history.operation(*id);
            let of_thread = history.threads[id.thread as usize].client == thread;
            of_thread && (operation.start..=operation.end).contains(&step)
        };
        history.ids().find(holds).map(|id| self.call(id))
    }

    fn call(&self, id: OperationId) -> Call {
        let history = &self.stored.round.history;
        Call { op: history.operation(id).op, args: history.args(id).to_vec() }
    }

    fn answer(&self, id: OperationId) -> Answer {
        let history = &self.stored.round.history;
        let (status, results) = (history.operation(id).status, history.results(id).to_vec());
        Answer { call: self.call(id), status, results }
    }
}

/// Whether the first of these is but the point before a release, where others may go first: the
/// thread holds what it seems to ask for.
fn is_point_of_release(events: &[Event]) -> bool {
    let Some((first, later)) = events.split_first() else { return false };
    let next = later.iter().find(|event| event.thread == first.thread);
    let same = |next: &Event| (next.address, next.code) == (first.address, first.code);
    let releases = |next: &Event| matches!(next.act, Act::Release | Act::Wake);
    first.act == Act::Acquire && next.is_some_and(|next| releases(next) && same(next))
}

/// Whether the last of these is a crash, and the one before the access that led to it: its hook
/// knows the line better than the instruction does.
fn is_of_access(events: &[Event]) -> bool {
    let [.., before, last] = events else { return false };
    let is_access = matches!(before.act, Act::Read | Act::Write) && before.thread == last.thread;
    let bytes = before.address..before.address.saturating_add(before.size.max(1).into());
    last.act == Act::Crash && is_access && bytes.contains(&last.address)
}

fn action(event: &Event, memory: &Memory) -> Action {
    let at = memory.place(event.address);
    let value = |value| memory.value_at(event.address, value, event.size);
    let (before, after) = (event.before, event.after);
    let from = || {
        let tells = before != after && !memory.is_junk(before, event.size);
        tells.then(|| value(before))
    };
    let known = || Some(at.clone()).filter(|_| event.address != 0);
    match event.act {
        Act::Load | Act::Read => Action::Reads { at, value: value(before) },
        // What a block is filled with: what was written came later, and nobody looked at it.
        Act::Write if memory.is_junk(after, event.size) => Action::Writes { at },
        Act::Store | Act::Write => Action::Sets { at, to: value(after), from: from() },
        Act::Buffer => Action::Buffers { at, to: value(after), from: from() },
        Act::Drain => Action::Drains { at, to: value(after) },
        Act::Exchange | Act::Swap => {
            Action::Exchanges { at, from: value(before), to: value(after) }
        }
        Act::FailedSwap => {
            Action::FailsToExchange { at, found: value(before), expected: value(after) }
        }
        Act::Fence => Action::Fence,
        Act::Allocate => Action::Allocates {
            block: memory.whole(event.address),
            bytes: event.size,
            former: memory.former(event.address),
        },
        Act::Free => Action::Frees { block: memory.whole(event.address) },
        Act::Acquire => Action::AsksFor { at },
        Act::Release => Action::Releases { at },
        Act::Block => Action::Waits { at: known() },
        Act::Wake => Action::Wakes { at },
        Act::Crash if event.size == 0 => Action::EndsProcess,
        Act::Crash => Action::Crashes { signal: event.size as i32, at: known() },
    }
}

/// Equal events in a row become one, and it is said where a thread is stopped inside of a call: of
/// the rows that matter, for they are what is read.
fn with_stops(rows: Vec<Row>) -> Vec<Row> {
    let mut told: Vec<Row> = Vec::with_capacity(rows.len());
    // Of each thread, the call that it is in.
    let mut inside: Vec<(u32, Call)> = Vec::new();
    let mut last: Option<(u32, bool)> = None;
    for row in rows {
        if row.matters {
            if let Some((thread, waits)) = last.take_if(|(thread, _)| *thread != row.thread)
                && let Some((_, call)) = inside.iter().find(|(of, _)| *of == thread && !waits)
            {
                told.push(Row::new(row.step, thread, What::Stopped(call.clone())));
            }
            last = Some((row.thread, row.waits()));
        }
        match &row.what {
            What::Call(call) => inside.push((row.thread, call.clone())),
            What::Answer(_) => inside.retain(|(of, _)| *of != row.thread),
            _ => {}
        }
        match told.last_mut().and_then(|before| repeated(before, &row)) {
            Some(times) => *times += 1,
            None => told.push(row),
        }
    }
    told
}

/// How often `before` was done in a row, if `row` is the same once more.
fn repeated<'a>(before: &'a mut Row, row: &Row) -> Option<&'a mut u32> {
    if before.thread != row.thread || before.matters != row.matters {
        return None;
    }
    match (&mut before.what, &row.what) {
        (What::Act { did, times, place }, What::Act { did: next, place: next_place, .. })
            if did == next && place == next_place =>
        {
            Some(times)
        }
        _ => None,
    }
}
