//! Makes the interleaving of a finding: a table of what its threads did, from the trail of a rerun.
//!
//! Rows that matter are marked: accesses to memory that several threads use and one of them changes
//! while the calls in question are under way. Lincheck's traces do the same (Koval et al.:
//! Lincheck: A Practical Framework for Testing Concurrent Data Structures on JVM, CAV 2023).
//!
//! - `decisive`: Finds the events of a trail on which an explanation depends.
//! - `fault`: Makes the last rows of the table: the fault that the engine prevented, or each
//!   thread's wait in a deadlock.
//! - `loops`: Makes the last rows of the table of a livelock: of each thread that runs, one turn of
//!   its loop.
//! - `memory`: Names memory: `#3+8` is byte 8 of the third block that the round allocated.
//! - `older_stores`: Reads of older stores than the last one: makes one event of each such load,
//!   and finds who has stored what it reads and what it does not see.
//! - `plain_writes`: Adds the values of plain writes that were unknown when the trail was recorded.
//! - `source`: Finds the source lines of a trail's events.
//! - `store_buffers`: Drops from a trail the waiting of stores in store buffers that no other
//!   thread could notice.
//! - `visibility`: Marks the events of a trail that matter: those by which threads can notice each
//!   other while certain calls are under way.

mod decisive;
mod fault;
mod loops;
mod memory;
mod older_stores;
mod plain_writes;
mod source;
mod store_buffers;
mod visibility;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::binary::members::Types;
use crate::binary::symbols::SourceLines;
use crate::core::history::{NEVER, OperationId};
use crate::finding::interleaving::{Action, Answer, Call, Interleaving, Row, RowKind, StoredBy};
use crate::finding::source_text::Texts;
use crate::finding::{Failure, FaultPlace, Stored};
use crate::trace::area::Stage;
use crate::trace::frame::{Deed, When};
use crate::trace::rounds::Round;
use crate::trace::trail::{Act, EVENTS_MAX, Event, is_new_memory};
use fault::Concerned;
use memory::Memory;
use visibility::CallSpan;

/// So many calls are in question, if there are as many.
const IN_QUESTION: usize = 12;

/// Of a table with more rows, those that matter are kept.
const ROWS_MAX: usize = 1 << 15;

/// The interleaving of a finding, from a rerun of its round with a trail that showed `failure`;
/// none if the trail is missing. Names the memory and the calls of the failure's places.
pub fn interleaving(
    stored: &Stored,
    (rerun, failure): (&Round, &mut Failure),
    lines: &mut SourceLines,
) -> Option<Interleaving> {
    let steps = rerun.end.steps.as_ref()?;
    let trail = &prepared(steps.trail.as_ref()?);
    let traced = TracedRound { stored, trail };
    let types = Types::load(lines.library());
    let mut memory = Memory::with_types_from(trail, &types);
    let concerned = Concerned::new(failure, trail);
    let mut rows = traced.rows(lines, &mut memory, &concerned);
    let call = |place: &FaultPlace| traced.call_of(place, concerned.freeing);
    fault::name_places(failure, &|address| memory.name(address), &call);
    let row = |at| rows.iter().find(|(of, _)| of.is_act(at)).map(|(_, row)| row.clone());
    concerned.name_synchronized(failure, trail, &row);
    let loops = loops::rows(failure, trail, &rows, &|thread| traced.last_call(thread));
    rows.extend(fault::row(failure, steps.steps).map(|row| (Position::LAST, row)));
    rows.sort_by_key(|(at, _)| *at);
    let mut rows = with_preemptions(rows.into_iter().map(|(_, row)| row).collect());
    rows.extend(fault::final_waits(failure, steps.steps));
    rows.extend(loops);
    let (rows, is_whole) = kept(rows);
    Some(Interleaving { rows, cut: !is_whole || trail.len() >= EVENTS_MAX })
}

/// The rows that are kept, and whether they are all that matter: of too many rows those that
/// matter, and if these are too many, the first and the last ones, and what decides.
fn kept(mut rows: Vec<Row>) -> (Vec<Row>, bool) {
    if rows.len() > ROWS_MAX {
        rows.retain(|row| row.matters);
    }
    let count = rows.len();
    if count > ROWS_MAX {
        let mut at = 0..;
        let is_end = |at: usize| at < ROWS_MAX / 2 || at >= count - ROWS_MAX / 2;
        rows.retain(|row| at.next().is_some_and(is_end) || row.decides);
    }
    let is_whole = rows.len() == count;
    (rows, is_whole)
}

/// Marks the events of a trail of the finding's round that other threads could notice.
pub fn mark_visible(stored: &Stored, trail: &[Event]) -> Vec<(Event, bool)> {
    let trail = prepared(trail);
    let spans = TracedRound { stored, trail: &trail }.spans();
    let matters = visibility::mark(&trail, &spans).into_iter().map(|mark| mark.matters);
    trail.iter().copied().zip(matters).collect()
}

fn prepared(trail: &[Event]) -> Vec<Event> {
    let trail = older_stores::without_second_events(trail);
    plain_writes::with_values(&store_buffers::without_unnoticed_delays(&trail))
}

/// Where a row belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    step: u64,
    kind: Kind,
    /// In the trail, of an act.
    index: usize,
}

/// The kind of a row; of one step, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Call,
    Act,
    Answer,
    Fault,
}

impl Position {
    const LAST: Position = Position { step: u64::MAX, kind: Kind::Fault, index: 0 };

    fn is_act(self, index: usize) -> bool {
        self.kind == Kind::Act && self.index == index
    }
}

/// A finding with a trail of its round.
struct TracedRound<'a> {
    stored: &'a Stored,
    trail: &'a [Event],
}

impl TracedRound<'_> {
    /// The rows in any order. Adds all blocks to `memory`. `concerned` are the fault's.
    fn rows(
        &self,
        lines: &mut SourceLines,
        memory: &mut Memory,
        concerned: &Concerned,
    ) -> Vec<(Position, Row)> {
        let (mut rows, mut texts) = (self.calls(), Texts::default());
        let spans = self.spans();
        let marks = visibility::mark(self.trail, &spans);
        let sources = source::without_single_callers(source::resolve(self.trail, lines));
        for (at, event) in self.trail.iter().enumerate() {
            memory.note(event);
            if is_point_before_release(&self.trail[at..]) {
                continue;
            }
            // A thread that holds the address may take the block for the former one (ABA).
            let reuses = event.act == Act::Allocate
                && memory.former(event.address).is_some()
                && spans.iter().any(|call| call.has(event));
            let is_concerned = concerned.has(event);
            let matters = reuses || is_concerned;
            let from = if is_crash_of_access(&self.trail[..=at]) { at - 1 } else { at };
            let source = sources[from].clone().filter(|_| event.code != 0);
            let place = source.map(|source| texts.place(source));
            let stored_by = |value| {
                let by = older_stores::stored(&self.trail[..at], event, value)?;
                let place = sources[by].clone().map(|source| texts.place(source));
                Some(StoredBy { thread: self.trail[by].thread, place })
            };
            let row = Row {
                step: event.step,
                thread: event.thread,
                what: RowKind::Act { did: action(event, memory, stored_by), times: 1, place },
                matters: marks[at].matters || matters,
                is_news: marks[at].is_news || matters,
                decides: marks[at].decides || concerned.is_freeing(event),
                delayed: matches!(event.act, Act::Buffer | Act::ReadsOld | Act::StoresOld),
                container: memory.container(event),
                changes: visibility::changes_memory(event),
            };
            memory.note_write(event);
            rows.push((Position { step: event.step, kind: Kind::Act, index: at }, row));
        }
        rows
    }

    /// The calls in question: the involved ones and all that overlap them; and if these are few,
    /// the last before them, because a mistake may show long after it happened.
    fn calls_in_question(&self) -> Vec<OperationId> {
        let history = &self.stored.round.history;
        let drain = self.stored.round.start.threads;
        let of_caller = |id: &OperationId| history.threads[id.thread as usize].client < drain;
        let all: Vec<OperationId> = history.ids().filter(of_caller).collect();
        let (involved, operation) =
            (self.stored.involved(), |id: &OperationId| history.operation(*id));
        let first = involved.iter().map(|id| operation(id).start).min().unwrap_or(0);
        let last = involved.iter().map(|id| operation(id).end).max().unwrap_or(NEVER);
        let meanwhile =
            |id: &OperationId| operation(id).end >= first && operation(id).start <= last;
        let (mut in_question, mut others): (Vec<_>, Vec<_>) = all.into_iter().partition(meanwhile);
        others.sort_by_key(|id| (operation(id).start > last, Reverse(operation(id).end)));
        others.truncate(IN_QUESTION.saturating_sub(in_question.len()));
        in_question.extend(others.into_iter().chain(involved.iter().copied()));
        in_question
    }

    /// The steps of the calls in question, of what threads of the target's own do, and of the
    /// destructor if the round ended there.
    fn spans(&self) -> Vec<CallSpan> {
        let history = &self.stored.round.history;
        let keeper = self.stored.round.start.threads;
        let own = self.trail.iter().map(|event| event.thread).filter(|thread| *thread > keeper);
        let own: BTreeSet<u32> = own.collect();
        let own = own.into_iter().map(|thread| CallSpan { thread, steps: 0..=NEVER });
        let is_destroyed =
            matches!(self.stored.finding.what, Failure::Fault { stage: Stage::Destroy, .. });
        let last = history.ids().map(|id| history.operation(id).end).max().unwrap_or(0);
        let destructor = CallSpan { thread: keeper, steps: last.saturating_add(1)..=NEVER };
        let span = |id: OperationId| {
            let operation = history.operation(id);
            let thread = history.threads[id.thread as usize].client;
            CallSpan { thread, steps: operation.start..=operation.end }
        };
        let calls = self.calls_in_question().into_iter().map(span);
        calls.chain(own).chain(is_destroyed.then_some(destructor)).collect()
    }

    fn calls(&self) -> Vec<(Position, Row)> {
        let (history, in_question) = (&self.stored.round.history, self.calls_in_question());
        let mut rows = Vec::new();
        for id in history.ids() {
            let operation = history.operation(id);
            let matters = in_question.contains(&id);
            let thread = history.threads[id.thread as usize].client;
            let row =
                |step, what| Row { is_news: matters, matters, ..Row::new(step, thread, what) };
            let at = |step, kind| Position { step, kind, index: 0 };
            let call = row(operation.start, RowKind::Call(self.call(id)));
            rows.push((at(operation.start, Kind::Call), call));
            if operation.end != NEVER {
                let answer = row(operation.end, RowKind::Answer(self.answer(id)));
                rows.push((at(operation.end, Kind::Answer), answer));
            }
        }
        rows
    }

    /// The call during which a fault's place happened, if that is certain.
    fn call_of(&self, place: &FaultPlace, freeing: Option<&Event>) -> Option<Call> {
        let (thread, When::InCall(_)) = (place.who.thread, place.who.when) else { return None };
        let step = match place.deed {
            Deed::HadFreed { .. } => freeing.filter(|event| event.thread == thread)?.step,
            Deed::HadAllocated { .. } => return None,
            Deed::Raced { .. } => return place.call.clone(),
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

    fn last_call(&self, client: u32) -> Option<Call> {
        let threads = &self.stored.round.history.threads;
        let thread = threads.iter().position(|thread| thread.client == client)?;
        let last = threads[thread].operations().len().checked_sub(1)?;
        Some(self.call(OperationId { thread: thread as u32, index: last as u32 }))
    }

    fn call(&self, id: OperationId) -> Call {
        let history = &self.stored.round.history;
        Call { op: history.operation(id).op, args: history.args(id).to_vec() }
    }

    fn answer(&self, id: OperationId) -> Answer {
        let history = &self.stored.round.history;
        let (status, results) = (history.operation(id).status, history.results(id).to_vec());
        let missing = self.stored.missing().filter(|missing| missing.removal == id);
        Answer { call: self.call(id), status, results, missing }
    }
}

/// Whether the first event is only the scheduling point before a release: the thread already holds
/// the lock that it seems to ask for.
fn is_point_before_release(events: &[Event]) -> bool {
    let Some((first, later)) = events.split_first() else { return false };
    let next = later.iter().find(|event| event.thread == first.thread);
    let same = |next: &Event| (next.address, next.code) == (first.address, first.code);
    let releases = |next: &Event| matches!(next.act, Act::Release | Act::Wake);
    first.act == Act::Acquire && next.is_some_and(|next| releases(next) && same(next))
}

/// Whether the last event is a crash, and the one before is the access that crashed: the hook knows
/// the line better than the instruction does.
fn is_crash_of_access(events: &[Event]) -> bool {
    let [.., before, last] = events else { return false };
    let is_access = matches!(before.act, Act::Read | Act::Write) && before.thread == last.thread;
    let bytes = before.address..before.address.saturating_add(before.size.max(1).into());
    last.act == Act::Crash && is_access && bytes.contains(&last.address)
}

/// `stored_by`: who has stored a value in the event's memory.
fn action(
    event: &Event,
    memory: &Memory,
    mut stored_by: impl FnMut(u64) -> Option<StoredBy>,
) -> Action {
    let at = match event.act {
        // The size is none of memory.
        Act::Acquire | Act::Release | Act::Block | Act::Wake | Act::Crash => {
            memory.name(event.address)
        }
        _ => memory.name_of(event.address, event.size),
    };
    let value = |value| memory.value_at(event.address, value, event.size);
    let (before, after) = (event.before, event.after);
    let from = || {
        let is_known = before != after && !is_new_memory(before, event.size);
        is_known.then(|| value(before))
    };
    let address = || Some(at.clone()).filter(|_| event.address != 0);
    match event.act {
        Act::Load | Act::Read => Action::Reads { at, value: value(before) },
        // The block's filling: the value came later, and nobody read it.
        Act::Write if is_new_memory(after, event.size) => Action::Writes { at },
        Act::Store | Act::Write => Action::Sets { at, to: value(after), from: from() },
        Act::Buffer => Action::Buffers { at, to: value(after), from: from() },
        Act::Drain => Action::Drains { at, to: value(after) },
        Act::ReadsOld => {
            let (by, newest_by) = (stored_by(before), stored_by(after));
            Action::ReadsOld { at, value: value(before), by, newest: value(after), newest_by }
        }
        Act::StoresOld => {
            let (to, newest, newest_by) = (value(after), value(before), stored_by(before));
            Action::StoresOld { at, to, newest, newest_by }
        }
        Act::ReadModifyWrite | Act::CompareExchange => {
            Action::Exchanges { at, from: value(before), to: value(after) }
        }
        Act::FailedCompareExchange => {
            Action::FailsToExchange { at, found: value(before), expected: value(after) }
        }
        Act::Fence => Action::Fence,
        Act::Allocate => Action::Allocates {
            block: memory.block_name(event.address),
            bytes: event.size,
            former: memory.former(event.address),
        },
        Act::Free => Action::Frees { block: memory.block_name(event.address) },
        Act::Acquire => Action::AsksFor { at },
        Act::Release => Action::Releases { at },
        Act::Block => Action::Waits { at: address() },
        Act::Wake => Action::Wakes { at },
        Act::Start => Action::Starts { thread: event.size },
        Act::Crash if event.size == 0 => Action::EndsProcess,
        Act::Crash => Action::Crashes { signal: event.size as i32, at: address() },
    }
}

/// Merges equal actions in a row, and adds a row where a thread is preempted in a call, judging by
/// the rows that matter.
fn with_preemptions(rows: Vec<Row>) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::with_capacity(rows.len());
    // The call of each thread.
    let mut inside: Vec<(u32, Call)> = Vec::new();
    let mut last: Option<(u32, bool)> = None;
    for row in rows {
        if row.matters {
            if let Some((thread, waits)) = last.take_if(|(thread, _)| *thread != row.thread)
                && let Some((_, call)) = inside.iter().find(|(other, _)| *other == thread && !waits)
            {
                merged.push(Row::new(row.step, thread, RowKind::Stopped(call.clone())));
            }
            last = Some((row.thread, row.waits()));
        }
        match &row.what {
            RowKind::Call(call) => inside.push((row.thread, call.clone())),
            RowKind::Answer(_) => inside.retain(|(other, _)| *other != row.thread),
            _ => {}
        }
        match merged.last_mut().and_then(|before| repeated(before, &row)) {
            Some(times) => *times += 1,
            None => merged.push(row),
        }
    }
    merged
}

/// The count of `before`, if `row` is the same action once more.
fn repeated<'a>(before: &'a mut Row, row: &Row) -> Option<&'a mut u32> {
    if before.thread != row.thread || before.matters != row.matters {
        return None;
    }
    match (&mut before.what, &row.what) {
        (RowKind::Act { did, times, place }, RowKind::Act { did: next, place: next_place, .. })
            if did == next && place == next_place =>
        {
            Some(times)
        }
        _ => None,
    }
}
