//! How a snapshot is taken, and what it may have.
//!
//! It is taken by reading who runs, session after session, while others commit. So it may have a
//! later commit and not an earlier one, but only if both were under way at once: what was committed
//! before another transaction changed anything is in each snapshot that has the other. Whether it
//! has what is committed meanwhile is left open until a call of the session depends on it.

use smallvec::SmallVec;

use super::store::Session;

/// What is published while a snapshot is taken has the numbers 1, 2, ...
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Look {
    pub goes_on: bool,
    published: u32,
    /// Sessions that changed something first when so many had been published; not where none had.
    begun: SmallVec<[(Session, u32); 2]>,
    /// What the snapshot may have or not: its number, and how many had been published when its
    /// session changed something first.
    open: SmallVec<[(u32, u32); 2]>,
}

impl Look {
    pub fn new() -> Look {
        Look { goes_on: true, ..Look::default() }
    }

    /// The snapshot is taken.
    pub fn end(&mut self) {
        *self = Look { open: std::mem::take(&mut self.open), ..Look::default() };
    }

    /// The number of what is published next.
    pub fn next(&self) -> u32 {
        self.published + 1
    }

    /// A session changed something first.
    pub fn begin(&mut self, session: Session) {
        if self.published > 0 {
            self.begun.push((session, self.published));
        }
    }

    /// A session no longer runs.
    pub fn leave(&mut self, session: Session) {
        self.begun.retain(|(other, _)| *other != session);
    }

    /// What a session changed is published.
    pub fn publish(&mut self, session: Session) {
        let begun = self.begun.iter().find(|(other, _)| *other == session);
        let begun = begun.map_or(0, |(_, begun)| *begun);
        self.leave(session);
        self.published += 1;
        self.open.push((self.published, begun));
    }

    /// The snapshot has what has this number, or has not: the numbers that are settled by that.
    pub fn settle(&mut self, number: u32, sees: bool) -> SmallVec<[u32; 4]> {
        let of = self.open.iter().find(|(other, _)| *other == number);
        let before = of.map_or(0, |(_, begun)| *begun);
        let is_settled = |(other, begun): &(u32, u32)| match sees {
            true => *other == number || *other <= before,
            false => *other == number || *begun >= number,
        };
        let settled = self.open.iter().filter(|open| is_settled(open)).map(|(at, _)| *at).collect();
        self.open.retain(|open| !is_settled(open));
        settled
    }
}
