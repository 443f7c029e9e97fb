//! Journals: histories whose operations are of a type of the user's own.
//! They are checked against a model that the user writes (see [`Model`](crate::model::Model)).

use rustc_hash::FxHashMap;

use super::annotations::Annotations;
use super::history::{Misfit, NEVER, OperationId};

/// An operation (a call with its answer) and its timebox.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed<O> {
    pub operation: O,
    /// Stamp at which the timebox opened. Any unit; only the order counts.
    pub start: u64,
    /// Stamp at which it closed; [`NEVER`] where the effect is open: the operation may have
    /// happened, may yet happen at any later time, or not.
    pub end: u64,
}

/// The operations of every sequential client. After an operation whose effect is open a client
/// continues as a new thread, so there may be more threads than clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal<O> {
    threads: Vec<(u32, Vec<Timed<O>>)>,
    /// By client: the thread that its next operation belongs to.
    live: FxHashMap<u32, usize>,
    /// As in a [`History`](super::history::History): nothing may be left at the end.
    pub drained: bool,
    pub annotations: Annotations,
}

impl<O> Default for Journal<O> {
    fn default() -> Journal<O> {
        Journal {
            threads: Vec::new(),
            live: FxHashMap::default(),
            drained: false,
            annotations: Annotations::default(),
        }
    }
}

impl<O> Journal<O> {
    /// Appends an operation of `client`, or says why it cannot follow the client's last one. `end`
    /// is none where the outcome is not known. Returns the id that a witness has for it.
    pub fn push(
        &mut self,
        client: u32,
        operation: O,
        start: u64,
        end: Option<u64>,
    ) -> Result<OperationId, Misfit> {
        let end = end.unwrap_or(NEVER);
        if start > end || start == NEVER {
            let text = format!("box [{start}, {end}] ends before it starts");
            return Err(Misfit::Order(text));
        }
        let thread = match self.live.get(&client) {
            Some(thread) => *thread,
            None => {
                self.threads.push((client, Vec::new()));
                self.live.insert(client, self.threads.len() - 1);
                self.threads.len() - 1
            }
        };
        let operations = &mut self.threads[thread].1;
        if let Some(last) = operations.last().filter(|last| last.end >= start) {
            let end = last.end;
            let text = format!("starts at {start}, not after the end {end} of the one before");
            return Err(Misfit::Order(text));
        }
        operations.push(Timed { operation, start, end });
        let index = operations.len() as u32 - 1;
        if end == NEVER {
            self.live.remove(&client);
        }
        Ok(OperationId { thread: thread as u32, index })
    }

    pub fn len(&self) -> usize {
        self.threads.iter().map(|(_, operations)| operations.len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, id: OperationId) -> &Timed<O> {
        &self.threads[id.thread as usize].1[id.index as usize]
    }

    /// The client that made the call.
    pub fn client(&self, id: OperationId) -> u32 {
        self.threads[id.thread as usize].0
    }

    /// Every operation with its id, thread by thread.
    pub fn operations(&self) -> impl Iterator<Item = (OperationId, &Timed<O>)> {
        self.threads.iter().enumerate().flat_map(|(thread, (_, operations))| {
            operations.iter().enumerate().map(move |(index, timed)| {
                (OperationId { thread: thread as u32, index: index as u32 }, timed)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_sequential_and_continue_after_an_open_operation() {
        let mut journal = Journal::default();
        journal.push(7, 'a', 1, Some(4)).expect("first");
        assert!(journal.push(7, 'b', 4, Some(5)).is_err());
        assert!(journal.push(7, 'b', 6, Some(5)).is_err());
        journal.push(7, 'b', 5, None).expect("open");
        let next = journal.push(7, 'c', 6, Some(6)).expect("the client continues");
        assert_eq!(next, OperationId { thread: 1, index: 0 });
        assert_eq!((journal.client(next), journal.len()), (7, 3));
    }
}
