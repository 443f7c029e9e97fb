//! The configurations that are left at a time of a history, and the operations under way there:
//! what every general search moves forward, from invocation to response. The searches differ in
//! where their events come from and in what they say of a violation.

use std::fmt::Debug;

use super::frontier::{Configuration, Frontier, Search};
use crate::check::data::bits::Places;
use crate::check::data::small::Few;
use crate::check::undecided::Exhausted;
use crate::model::Model;

/// `I` names operations.
#[derive(Clone)]
pub struct Position<I, O, S, const WORDS: usize = 1> {
    pub frontier: Frontier<O, S, WORDS>,
    /// The operations under way, each with the places of its steps in `frontier`, in no order.
    pub open: Few<(I, Places<WORDS>)>,
}

impl<I: Copy + Ord, O: Debug, S, const WORDS: usize> Position<I, O, S, WORDS> {
    /// Before the first operation.
    pub fn new(state: S) -> Position<I, O, S, WORDS> {
        Position { frontier: Frontier::new(state), open: Few::new() }
    }

    /// An operation is invoked; for its steps see [`Search::call`]. Returns the place of each step.
    pub fn invoke<M: Model<O, State = S>>(
        &mut self,
        search: &mut Search<O, M, WORDS>,
        id: I,
        steps: impl IntoIterator<Item = (O, Option<usize>)>,
    ) -> Result<Few<usize>, Exhausted> {
        let places = search.call(&mut self.frontier, steps)?;
        self.open.push((id, places.iter().copied().collect()));
        Ok(places)
    }

    /// As [`Position::invoke`], for an operation that never responds: if it has one step, that need
    /// not take effect.
    pub fn invoke_pending<M: Model<O, State = S>>(
        &mut self,
        search: &mut Search<O, M, WORDS>,
        id: I,
        steps: impl IntoIterator<Item = (O, Option<usize>)>,
    ) -> Result<(), Exhausted> {
        if let [place] = self.invoke(search, id, steps)?[..] {
            self.frontier.need_not_happen(place);
        }
        Ok(())
    }

    /// An operation responds: it must have taken effect. Says whether any configuration is left; if
    /// none is, the configurations stay as they were.
    pub fn respond<M: Model<O, State = S>>(
        &mut self,
        search: &mut Search<O, M, WORDS>,
        id: I,
    ) -> Result<bool, Exhausted> {
        let steps = self.ends(id);
        search.close(&mut self.frontier, steps)
    }

    fn ends(&mut self, id: I) -> Places<WORDS> {
        let at = self.open.iter().position(|(other, _)| *other == id);
        self.open.swap_remove(at.expect("a response comes after its invocation")).1
    }

    /// The operations under way, sorted.
    pub fn under_way(&self) -> Vec<I> {
        let mut ids: Vec<I> = self.open.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// The configuration that can go on in all the ways in which any can, if there is one: what
    /// came before it can be replaced by its state. `covers` says so of two. All checkpoints of
    /// online checks are found by this.
    pub fn only_way(
        &self,
        covers: impl Fn(&Configuration<S, WORDS>, &Configuration<S, WORDS>) -> bool,
    ) -> Option<&Configuration<S, WORDS>> {
        let ways = &self.frontier.configurations;
        let mut best = ways.first()?;
        for way in &ways[1..] {
            best = if covers(best, way) { best } else { way };
        }
        ways.iter().all(|way| covers(best, way)).then_some(best)
    }
}
