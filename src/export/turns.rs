//! Builds the schedule of a reproducer from a trail: a list of turns, each a thread and the event
//! before which its turn ends.
//!
//! Calls become shorter: a call begins right before its first event that other threads can notice,
//! and returns right after its last. That orders more calls than before, so the same answers are at
//! least as impossible.

use std::collections::{HashMap, HashSet};

use super::older;
use crate::core::history::{History, NEVER, OperationId};
use crate::core::operation::Status;
use crate::trace::trail::{Act, Event};

/// What a turn ends before, as `schedule.c` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    Call,
    Load,
    Store,
    Exchange,
    Swap,
    Fence,
    Read,
    Write,
    Allocate,
    Free,
    Acquire,
    Release,
    Wait,
    Wake,
    /// About to wait.
    Ask,
    Any,
    Drain,
    Done,
}

impl Point {
    pub fn name(self) -> String {
        format!("{self:?}").to_uppercase()
    }

    fn from_act(act: Act) -> Option<Point> {
        Some(match act {
            Act::Load | Act::ReadsOld => Point::Load,
            Act::Store | Act::Buffer | Act::StoresOld => Point::Store,
            Act::ReadModifyWrite => Point::Exchange,
            Act::CompareExchange | Act::FailedCompareExchange => Point::Swap,
            Act::Fence => Point::Fence,
            Act::Read => Point::Read,
            Act::Write => Point::Write,
            Act::Allocate => Point::Allocate,
            Act::Free => Point::Free,
            Act::Acquire => Point::Acquire,
            Act::Release => Point::Release,
            Act::Block => Point::Wait,
            Act::Wake => Point::Wake,
            Act::Crash | Act::Drain | Act::Start => return None,
        })
    }

    /// Whether accesses of each size are counted separately.
    fn has_size(self) -> bool {
        use Point::{Exchange, Load, Read, Store, Swap, Write};
        matches!(self, Load | Store | Exchange | Swap | Read | Write)
    }

    /// How certain its count is: how little it depends on the compiler and the C library.
    fn certainty(self) -> u32 {
        match self {
            Point::Call => 4,
            Point::Load | Point::Store | Point::Exchange | Point::Swap | Point::Fence => 3,
            Point::Acquire | Point::Release | Point::Wait | Point::Wake => 2,
            Point::Read | Point::Write => 1,
            Point::Allocate | Point::Free => 0,
            Point::Ask | Point::Any | Point::Drain | Point::Done => 0,
        }
    }
}

/// A thread runs until its call number `call`, from 1, is about to reach the point for the
/// `count`-th time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    pub thread: u32,
    pub call: u32,
    pub point: Point,
    pub size: u32,
    pub count: u32,
    /// The step of the finding that reached it, from which its source line is known.
    pub step: Option<u64>,
}

/// The turns, and the accesses that memory alone does not decide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    pub turns: Vec<Turn>,
    /// The stores that wait in store buffers.
    pub held: Vec<Turn>,
    /// The accesses that do not meet the newest store, with how many are newer.
    pub older: Vec<(Turn, u32)>,
    pub reuses_memory: bool,
}

/// An event of a thread.
struct ThreadEvent {
    /// The turn that would end before it.
    turn: Turn,
    /// Its index in the trail.
    at: usize,
    /// Whether it is a store that waits in its thread's store buffer.
    is_held: bool,
    /// If it does not meet the newest store: how many are newer.
    newer: Option<u32>,
}

/// An event whose order the schedule keeps.
struct Atom {
    thread: u32,
    call: u32,
    /// Its index among its thread's events; none for the end of a call without any such event.
    own: Option<usize>,
    /// Whether it is a store that leaves the store buffer.
    drains: bool,
}

pub struct ScheduleBuilder<'a> {
    pub history: &'a History,
    pub threads: u32,
    /// Events, with whether other threads could notice them.
    pub trail: &'a [(Event, bool)],
    /// Whether all threads run at once at the end, for ever.
    pub hangs: bool,
}

impl ScheduleBuilder<'_> {
    /// A schedule that keeps the order of the events before `until`: of those that other threads
    /// could notice, or of all.
    pub fn build(&self, keeps_all: bool, until: usize) -> Schedule {
        let newer = older::newer_stores(self.trail);
        let own: Vec<Vec<ThreadEvent>> =
            (0..self.threads).map(|thread| self.events_of(thread, &newer)).collect();
        let atoms = self.atoms(&own, keeps_all, until);
        let mut turns = Vec::new();
        for at in 0..atoms.len() {
            let atom = &atoms[at];
            if atom.drains {
                turns.push(turn(atom.thread, 0, Point::Drain));
                continue;
            }
            let goes_on = |next: &Atom| next.thread == atom.thread && !next.drains;
            if atoms.get(at + 1).is_some_and(goes_on) {
                continue;
            }
            let next = atoms[at + 1..].iter().find(|next| goes_on(next));
            let until_next = atoms[at + 1..].iter().take_while(|next| !goes_on(next));
            let own = &own[atom.thread as usize];
            turns.push(
                match { until_next }.any(|next| next.drains && next.thread == atom.thread) {
                    // The next event might drain its store buffer.
                    true => before_next(atom, own),
                    false => self.end_of_turn(atom, next, own),
                },
            );
        }
        if self.hangs {
            turns.truncate(turns.len() - turns.iter().rev().take_while(is_done).count());
        } else {
            for thread in (0..self.threads).rev() {
                if !turns.iter().any(|turn| turn.thread == thread && is_done(&turn)) {
                    turns.push(turn(thread, 0, Point::Done));
                }
            }
        }
        let events = || own.iter().flatten();
        let held = events().filter(|event| event.is_held).map(|event| event.turn).collect();
        let older = events().filter_map(|event| Some((event.turn, event.newer?))).collect();
        Schedule { turns, held, older, reuses_memory: self.reuses_memory() }
    }

    /// The turn that ends after `atom` and before `next`, the thread's next event to keep in order.
    fn end_of_turn(&self, atom: &Atom, next: Option<&Atom>, own: &[ThreadEvent]) -> Turn {
        let thread = atom.thread;
        let last = atom.own.map(|at| &own[at]);
        if let Some(wait) = last.filter(|event| event.turn.point == Point::Wait) {
            return wait.turn;
        }
        let first = next_index(atom, own);
        let Some(next) = next else {
            return match self.is_pending(thread, atom.call) {
                true => before_next(atom, own),
                false => turn(thread, 0, Point::Done),
            };
        };
        if next.call > atom.call {
            return turn(thread, next.call, Point::Call);
        }
        let end = next.own.map_or(first, |at| at + 1).max(first);
        let between = own[first..end].iter().filter(|event| event.turn.point != Point::Wait);
        let best = between.max_by_key(|event| event.turn.point.certainty());
        // Only waits come before it.
        let count = own.get(end - 1).map_or(1, |event| event.turn.count);
        let waits = Turn { count, ..turn(thread, next.call, Point::Ask) };
        best.map_or(waits, |event| event.turn)
    }

    fn events_of(&self, thread: u32, newer: &HashMap<usize, u32>) -> Vec<ThreadEvent> {
        let mut counts: HashMap<(u32, Point, u32), u32> = HashMap::new();
        let mut events: Vec<ThreadEvent> = Vec::new();
        for (at, (event, _)) in self.trail.iter().enumerate() {
            let Some(point) = Point::from_act(event.act).filter(|_| event.thread == thread) else {
                continue;
            };
            if event.act == Act::ReadsOld && !older::is_load(&self.trail[at..]) {
                continue;
            }
            let before = events.last().map(|before| before.turn.point);
            // The reproducer asks for a lock when it is free, and need not wait for it.
            if point == Point::Wait && matches!(before, Some(Point::Acquire | Point::Wait)) {
                continue;
            }
            let size = if point.has_size() { event.size } else { 0 };
            let count = counts.entry((event.call, point, class(size))).or_default();
            *count += 1;
            let turn = Turn {
                thread,
                call: event.call,
                point,
                size,
                count: *count,
                step: Some(event.step),
            };
            let (is_held, newer) = (event.act == Act::Buffer, newer.get(&at).copied());
            events.push(ThreadEvent { turn, at, is_held, newer });
        }
        events
    }

    fn atoms(&self, own: &[Vec<ThreadEvent>], keeps_all: bool, until: usize) -> Vec<Atom> {
        // Sorted by step, kind, and index in the trail.
        let mut atoms: Vec<((u64, u8, usize), Atom)> = Vec::new();
        let mut noticed: HashSet<(u32, u32)> = HashSet::new();
        for (at, (event, matters)) in self.trail.iter().enumerate().take(until) {
            if event.act == Act::Drain && event.thread < self.threads {
                let (thread, call) = (event.thread, event.call);
                let atom = Atom { thread, call, own: None, drains: true };
                atoms.push(((event.step, 1, at), atom));
            }
            if !(*matters || keeps_all) || event.thread >= self.threads {
                continue;
            }
            let events = &own[event.thread as usize];
            let Ok(place) = events.binary_search_by_key(&at, |event| event.at) else { continue };
            let ThreadEvent { turn, .. } = events[place];
            let Some(when) = self.when(at) else { continue };
            noticed.insert((turn.thread, turn.call));
            let (thread, call) = (turn.thread, turn.call);
            atoms.push((when, Atom { thread, call, own: Some(place), drains: false }));
        }
        for id in self.history.ids() {
            let (thread, call) = (self.history.threads[id.thread as usize].client, id.index + 1);
            let operation = self.history.operation(id);
            let has_atom = thread >= self.threads || noticed.contains(&(thread, call));
            if !has_atom && operation.end != NEVER {
                let atom = Atom { thread, call, own: None, drains: false };
                atoms.push(((operation.end, 2, 0), atom));
            }
        }
        atoms.sort_by_key(|(when, _)| *when);
        atoms.into_iter().map(|(_, atom)| atom).collect()
    }

    /// When the event took effect: of a lock that its thread waited for, when it got the lock; none
    /// if it never did.
    fn when(&self, at: usize) -> Option<(u64, u8, usize)> {
        let event = &self.trail[at].0;
        let own = self.trail[at + 1..].iter().map(|(event, _)| event).enumerate();
        let mut own = own.filter(|(_, other)| other.thread == event.thread);
        let next = own.next();
        match next {
            Some((_, next)) if event.act == Act::Acquire && next.act == Act::Block => {
                let (later, after) = own.find(|(_, other)| other.act != Act::Block)?;
                Some((after.step, 1, at + later))
            }
            _ => Some((event.step, 1, at)),
        }
    }

    fn is_pending(&self, thread: u32, call: u32) -> bool {
        let place = self.history.threads.iter().position(|other| other.client == thread);
        let Some((place, index)) = place.zip(call.checked_sub(1)) else { return false };
        let known = self.history.threads[place].operations().len() > index as usize;
        let id = OperationId { thread: place as u32, index };
        known && self.history.operation(id).status == Status::Pending
    }

    fn reuses_memory(&self) -> bool {
        let mut freed: HashSet<u64> = HashSet::new();
        self.trail.iter().any(|(event, _)| match event.act {
            Act::Free => {
                freed.insert(event.address);
                false
            }
            Act::Allocate => freed.contains(&event.address),
            _ => false,
        })
    }

    /// The index after the last event that is new for its thread and place, of those that `counts`
    /// accepts. From there on a livelock repeats itself.
    pub fn last_new(&self, counts: impl Fn(&Event) -> bool) -> usize {
        let (mut known, mut end) = (HashSet::new(), 0);
        for (at, (event, _)) in self.trail.iter().enumerate() {
            if counts(event) && known.insert((event.thread, event.act as u32, event.code)) {
                end = at + 1;
            }
        }
        end
    }
}

/// The index of its thread's next event.
fn next_index(atom: &Atom, own: &[ThreadEvent]) -> usize {
    let later = |event: &ThreadEvent| event.turn.call > atom.call;
    atom.own.map_or_else(|| own.iter().position(later).unwrap_or(own.len()), |at| at + 1)
}

/// The turn that ends before its thread's next event.
fn before_next(atom: &Atom, own: &[ThreadEvent]) -> Turn {
    let count = own.iter().filter(|event| event.turn.call == atom.call).count() as u32 + 1;
    let any = Turn { count, ..turn(atom.thread, atom.call, Point::Any) };
    own.get(next_index(atom, own)).map_or(any, |event| event.turn)
}

fn is_done(turn: &&Turn) -> bool {
    turn.point == Point::Done
}

fn turn(thread: u32, call: u32, point: Point) -> Turn {
    Turn { thread, call, point, size: 0, count: 1, step: None }
}

/// Sizes that `schedule.c` counts as one.
fn class(size: u32) -> u32 {
    if matches!(size, 1 | 2 | 4 | 8 | 16) { size } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::history::Entry;
    use crate::core::operation::Op;

    fn event(step: u64, thread: u32, act: Act, address: u64) -> (Event, bool) {
        let (call, size, before, after, code, around) = (1, 8, 0, 0, 0, [0; 4]);
        (Event { step, thread, call, act, address, size, before, after, code, around }, true)
    }

    /// One call of each of two threads, both under way for the whole round.
    fn history() -> History {
        let mut history = History::default();
        for thread in 0..2 {
            let (op, status) = (Op::CounterRead, Status::Ok);
            let entry = Entry { op, status, start: 1, end: 100, args: &[], results: &[0] };
            history.push(thread, entry).expect("fits");
        }
        history
    }

    fn turns(trail: &[(Event, bool)]) -> Vec<(u32, Point, u32)> {
        let history = history();
        let builder = ScheduleBuilder { history: &history, threads: 2, trail, hangs: false };
        let turns = builder.build(false, usize::MAX).turns;
        turns.into_iter().map(|turn| (turn.thread, turn.point, turn.count)).collect()
    }

    #[test]
    fn a_turn_ends_before_what_its_thread_does_next() {
        let trail = [
            event(2, 0, Act::Load, 0x100),
            event(3, 1, Act::Load, 0x100),
            event(4, 1, Act::CompareExchange, 0x100),
            event(5, 0, Act::FailedCompareExchange, 0x100),
            event(6, 0, Act::Load, 0x100),
            event(7, 1, Act::Load, 0x100),
        ];
        use Point::{Done, Load, Swap};
        assert_eq!(turns(&trail), [(0, Swap, 1), (1, Load, 2), (0, Done, 1), (1, Done, 1)]);
    }

    #[test]
    fn a_lock_is_asked_for_when_it_is_free() {
        let trail = [
            event(2, 0, Act::Acquire, 0x100),
            event(3, 1, Act::Acquire, 0x100),
            event(4, 1, Act::Block, 0x100),
            event(5, 0, Act::Acquire, 0x100),
            event(5, 0, Act::Release, 0x100),
            event(6, 1, Act::Load, 0x200),
        ];
        assert_eq!(turns(&trail), [(0, Point::Done, 1), (1, Point::Done, 1)]);
    }

    #[test]
    fn a_buffered_store_is_drained_in_its_own_turn() {
        let trail = [
            event(2, 0, Act::Buffer, 0x100),
            event(3, 0, Act::Load, 0x200),
            event(4, 1, Act::Load, 0x100),
            event(5, 0, Act::Drain, 0x100),
            event(6, 1, Act::Load, 0x100),
        ];
        use Point::{Any, Done, Drain, Load};
        let expected = [(0, Any, 3), (1, Load, 2), (0, Drain, 1), (1, Done, 1), (0, Done, 1)];
        assert_eq!(turns(&trail), expected);
        let history = history();
        let builder =
            ScheduleBuilder { history: &history, threads: 2, trail: &trail, hangs: false };
        let held = builder.build(false, usize::MAX).held;
        assert_eq!(held.len(), 1);
        assert_eq!((held[0].thread, held[0].point, held[0].count), (0, Point::Store, 1));
    }
}
