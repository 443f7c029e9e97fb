//! What the threads of a reproducer do, in order. A round's history and the table of what its
//! threads did come in; for each thread its calls go out, with the turns it waits for and the
//! places at which it is stopped. Without a table, what each call has to wait for. Writes no code.
//!
//! Calls are made narrower on the way: one begins right before the first thing that others can
//! notice, and returns right after the last. That orders more calls than were ordered before, so
//! the same answers are at least as impossible.

use crate::core::history::{History, OperationId};
use crate::core::operation::Status;
use crate::finding::interleaving::{Interleaving, Row, What};

/// What a thread does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Waits for this turn.
    Turn(usize),
    /// In the next call, at this stop, the others go on until it is this turn.
    Stop {
        stop: usize,
        back: usize,
    },
    Call(OperationId),
    EndTurn,
    /// Waits until this thread has returned from so many calls.
    After {
        thread: u32,
        calls: usize,
    },
}

/// Where a thread is stopped inside of a call: between two rows of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    pub thread: u32,
    pub call: OperationId,
    pub last: usize,
    /// None: it never went on, because the process ended before.
    pub next: Option<usize>,
    /// The first row of the call, or that behind its stop before.
    pub from: usize,
}

/// What the threads do, and where they are stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Of each thread.
    pub threads: Vec<Vec<Step>>,
    pub stops: Vec<Stop>,
    /// Turns whose last call waits for another thread.
    pub blocked: Vec<usize>,
    /// One thread at a time runs, in turns; otherwise all that may.
    pub has_turns: bool,
}

impl Script {
    /// Most stops within one call; at least 1.
    pub fn stops_of_a_call(&self) -> usize {
        let calls =
            self.threads.iter().flat_map(|steps| steps.split(|step| matches!(step, Step::Call(_))));
        let stops =
            |steps: &[Step]| steps.iter().filter(|step| matches!(step, Step::Stop { .. })).count();
        calls.map(stops).max().unwrap_or(0).max(1)
    }

    /// What a thread does, of these things with their turns; notes where it is stopped.
    fn steps(&mut self, own: &[(&Atom, usize)], table: &Interleaving, end: &End) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut turn = None;
        for atoms in own.chunk_by(|a, b| a.0.call == b.0.call) {
            if turn.is_some_and(|turn| turn != atoms[0].1) {
                steps.push(Step::EndTurn);
            }
            if turn != Some(atoms[0].1) {
                steps.push(Step::Turn(atoms[0].1));
            }
            let (mut from, mut blocked) = (atoms[0].0.row.unwrap_or(0), None);
            for pair in atoms.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
                let ((before, turn), (after, back)) = (pair[0], pair[1]);
                let (Some(last), Some(next)) = (before.row, after.row) else { continue };
                if table.rows[last].waits() {
                    // It stops by itself.
                    self.blocked.push(turn);
                    blocked = Some(back);
                } else {
                    let call = before.call;
                    steps.push(Step::Stop { stop: self.stops.len(), back });
                    let next = Some(next);
                    self.stops.push(Stop { thread: before.thread, call, last, next, from });
                }
                from = next;
            }
            let (last, turn_of_last) = atoms[atoms.len() - 1];
            if let Some(row) = last.row.filter(|row| !table.rows[*row].waits())
                && end.is_cut_off(last.call, turn_of_last)
            {
                let (thread, call) = (last.thread, last.call);
                steps.push(Step::Stop { stop: self.stops.len(), back: end.turn + 1 });
                self.stops.push(Stop { thread, call, last: row, next: None, from });
            }
            steps.push(Step::Call(atoms[0].0.call));
            steps.extend(blocked.map(Step::Turn));
            turn = atoms.last().map(|(_, turn)| *turn);
        }
        steps.push(Step::EndTurn);
        steps
    }
}

/// How the script ends.
struct End {
    /// The last turn.
    turn: usize,
    /// Calls that never returned.
    pending: Vec<OperationId>,
}

impl End {
    /// Whether the process ended while this call, which was last seen in this turn, was stopped.
    fn is_cut_off(&self, call: OperationId, turn: usize) -> bool {
        turn < self.turn && self.pending.contains(&call)
    }
}

/// A thing that a thread does and that others may notice: a row of the table, or none for a call
/// that others cannot notice at all.
struct Atom {
    thread: u32,
    call: OperationId,
    row: Option<usize>,
}

/// One thread at a time, as the table has it: switched where a row `is_kept`. From a row on all go
/// at once, if there is one: where nothing happens any more that has not happened before.
pub fn in_turns(
    history: &History,
    table: &Interleaving,
    threads: u32,
    is_kept: impl Fn(&Row) -> bool,
    free_from: Option<usize>,
) -> Script {
    let atoms = atoms(history, table, threads, is_kept);
    let is_free = |atom: &Atom| atom.row >= free_from && free_from.is_some();
    let first_free = atoms.iter().position(is_free).unwrap_or(atoms.len());
    let mut turns = Vec::with_capacity(atoms.len());
    for (at, atom) in atoms.iter().enumerate() {
        let turn = match at.checked_sub(1) {
            None => 0,
            Some(before) if at == first_free => turns[before] + 1,
            Some(before) if at > first_free => turns[before],
            Some(before) => turns[before] + usize::from(atoms[before].thread != atom.thread),
        };
        turns.push(turn);
    }
    let is_pending = |id: &OperationId| history.operation(*id).status == Status::Pending;
    let pending = history.ids().filter(is_pending).collect();
    let end = End { turn: turns.last().copied().unwrap_or(0), pending };
    let mut script = Script { has_turns: true, ..Script::default() };
    for thread in 0..threads {
        let own: Vec<(&Atom, usize)> =
            atoms.iter().zip(turns.iter().copied()).filter(|(a, _)| a.thread == thread).collect();
        let steps = script.steps(&own, table, &end);
        script.threads.push(steps);
    }
    script
}

fn atoms(
    history: &History,
    table: &Interleaving,
    threads: u32,
    is_kept: impl Fn(&Row) -> bool,
) -> Vec<Atom> {
    // Of each thread, how many calls have begun, and whether the last one has been noticed.
    let mut begun = vec![(0u32, false); threads as usize];
    let mut atoms = Vec::new();
    let place = |client: u32| history.threads.iter().position(|t| t.client == client);
    let id = |thread: u32, begun: u32| {
        let index = begun.checked_sub(1)?;
        Some(OperationId { thread: place(thread)? as u32, index })
    };
    for (at, row) in table.rows.iter().enumerate().filter(|(_, row)| row.thread < threads) {
        let (thread, state) = (row.thread, &mut begun[row.thread as usize]);
        match row.what {
            What::Call(_) => {
                // One that never returned and that nobody noticed.
                *state = (state.0 + 1, false);
            }
            What::Answer(_) if !state.1 => {
                atoms.extend(id(thread, state.0).map(|call| Atom { thread, call, row: None }));
            }
            What::Act { .. } if is_kept(row) => {
                if let Some(call) = id(thread, state.0) {
                    state.1 = true;
                    atoms.push(Atom { thread, call, row: Some(at) });
                }
            }
            _ => {}
        }
    }
    let is_there = |atoms: &[Atom], call| atoms.iter().any(|atom| atom.call == call);
    for call in history.ids().filter(|id| history.threads[id.thread as usize].client < threads) {
        if !is_there(&atoms, call) {
            let thread = history.threads[call.thread as usize].client;
            atoms.push(Atom { thread, call, row: None });
        }
    }
    atoms
}

/// All threads at once; a call waits for those that had returned before it began.
pub fn at_once(history: &History, threads: u32) -> Script {
    let mut script = Script::default();
    for client in 0..threads {
        let mut steps = Vec::new();
        let mut waited = vec![0; history.threads.len()];
        for call in history.ids().filter(|id| history.threads[id.thread as usize].client == client)
        {
            let start = history.operation(call).start;
            let others = history.threads.iter().enumerate();
            for (at, other) in others.filter(|(_, t)| t.client != client && t.client < threads) {
                let returned = other.operations().iter().filter(|o| o.end < start).count();
                if returned > waited[at] {
                    waited[at] = returned;
                    steps.push(Step::After { thread: other.client, calls: returned });
                }
            }
            steps.push(Step::Call(call));
        }
        script.threads.push(steps);
    }
    script
}

/// One call after the other, as they were made.
pub fn in_order(history: &History, threads: u32) -> Script {
    let mut calls: Vec<OperationId> = history.ids().collect();
    calls.retain(|id| history.threads[id.thread as usize].client < threads);
    calls.sort_by_key(|id| history.operation(*id).start);
    let table = Interleaving::default();
    let thread = |call: &OperationId| history.threads[call.thread as usize].client;
    let atom = |call: &OperationId| Atom { thread: thread(call), call: *call, row: None };
    let atoms: Vec<Atom> = calls.iter().map(atom).collect();
    let mut script = Script { has_turns: true, ..Script::default() };
    let end = End { turn: 0, pending: Vec::new() };
    for of in 0..threads {
        let own: Vec<(&Atom, usize)> =
            atoms.iter().zip(0..).filter(|(atom, _)| atom.thread == of).collect();
        let steps = script.steps(&own, &table, &end);
        script.threads.push(steps);
    }
    script
}
