//! Some operations of a history as a history of their own, and the names of each in both.

use crate::core::history::{History, OperationId};

pub struct Part {
    pub history: History,
    /// By thread, the places of its operations in the whole history.
    places: Vec<Vec<u32>>,
}

impl Part {
    /// `ids`: the operations of `history` by their names in the whole one, in the order of each
    /// thread.
    pub fn new(history: History, ids: &[OperationId]) -> Part {
        let mut places = vec![Vec::new(); history.threads.len()];
        ids.iter().for_each(|id| places[id.thread as usize].push(id.index));
        Part { history, places }
    }

    /// The name in the whole history.
    pub fn whole(&self, id: OperationId) -> OperationId {
        let index = self.places[id.thread as usize][id.index as usize];
        OperationId { thread: id.thread, index }
    }

    /// The name in this one, of an operation that is in it.
    pub fn own(&self, id: OperationId) -> Option<OperationId> {
        let index = self.places[id.thread as usize].binary_search(&id.index).ok()?;
        Some(OperationId { thread: id.thread, index: index as u32 })
    }
}
