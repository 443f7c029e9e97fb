//! Holds the set of all configurations that a history can have led to so far, and moves it forward
//! by invocations and responses. Works for any sequential object.
//!
//! This is just-in-time linearization (Lowe 2017): nothing takes effect until a return forces it.
//! A configuration says which of the open steps have taken effect, and what state that left.
//!
//! A step that can only read is the exception: it takes effect as soon as the state allows it. An
//! order in which it comes later stays an order when it is moved forward to here: it is legal here,
//! and leaving it out there changes no state, since a read never does. (A write of the value that
//! is there already changes nothing here either, but would there: it has to wait.)

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};

use smallvec::{SmallVec, smallvec};

use crate::check::data::bits::{Places, WORD};
use crate::check::data::small::Few;
use crate::check::undecided::Exhausted;
use crate::check::verdict::Limits;
use crate::model::Model;
use rustc_hash::{FxHashMap, FxHashSet};

/// To copy so many bytes of a state takes as long as a step.
const STEP_BYTES: u64 = 4096;

/// Words of a set of places where one word does not do: 1,024 steps may be open at once.
pub const MANY: usize = 16;

/// A step may take long, where states are large; most take less than a look at the clock.
const STEPS_BETWEEN_LOOKS: u64 = 16;

/// Above this many items a [`Distinct`] hashes.
const LINEAR_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration<S, const WORDS: usize = 1> {
    /// The open steps that have taken effect, by their places.
    pub done: Places<WORDS>,
    pub state: S,
}

/// A step that has been called and not returned.
#[derive(Clone)]
struct OpenStep<O> {
    operation: O,
    /// The place of the step of the same call that must take effect before.
    before: Option<usize>,
    reads: bool,
    /// It takes effect any number of times, until the step after it does.
    repeats: bool,
    /// The place of the step before it, which repeats until it takes effect.
    ends: Option<usize>,
}

impl<O> OpenStep<O> {
    /// Whether the step before it has taken effect.
    fn may_follow<const WORDS: usize>(&self, done: Places<WORDS>) -> bool {
        self.ends.is_some() || self.before.is_none_or(|place| done.contains(place))
    }

    /// Takes effect if it may come at once; says whether it did.
    fn comes_at_once<M: Model<O>, const WORDS: usize>(
        &self,
        place: usize,
        model: &M,
        Configuration { done, state }: &mut Configuration<M::State, WORDS>,
        next: &mut Vec<M::State>,
    ) -> bool
    where
        O: Debug,
    {
        let may_come = model.at_once(state, &self.operation) && self.may_follow(*done);
        if !may_come || done.contains(place) {
            return false;
        }
        model.step(state, &self.operation, next);
        let Some(after) = next.drain(..).next() else { return false };
        *state = after;
        self.take_effect(place, done);
        true
    }

    /// What has taken effect once this one at `place` does, too.
    fn take_effect<const WORDS: usize>(&self, place: usize, done: &mut Places<WORDS>) {
        if !self.repeats {
            done.insert(place);
        }
        if let Some(ended) = self.ends {
            done.insert(ended);
        }
    }
}

/// All configurations that explain the history so far, with room for as many open steps as so many
/// words have bits.
#[derive(Clone)]
pub struct Frontier<O, S, const WORDS: usize = 1> {
    pub configurations: SmallVec<[Configuration<S, WORDS>; 4]>,
    open: SmallVec<[OpenStep<O>; 4]>,
    /// The places of `open` that are in use.
    used: Places<WORDS>,
    /// Those of steps that may take effect and never have to, nor does any other wait for them.
    optional: Places<WORDS>,
}

/// What moves frontiers forward: the object, what may be spent, and room to work in.
pub struct Search<'l, O: Debug, M: Model<O>, const WORDS: usize = 1> {
    pub model: &'l M,
    limits: &'l Limits,
    /// The lowest part that was found violated so far, and this search's part: see
    /// [`Search::stop_below`].
    decided: Option<(&'l AtomicUsize, usize)>,
    steps: u64,
    /// What the copies of large states took, in steps.
    copies: u64,
    /// Bytes that the states at hand hold outside of themselves.
    weight: usize,
    reached: Distinct<Configuration<M::State, WORDS>>,
    visited: Distinct<Configuration<M::State, WORDS>>,
    /// Where steps are optional: for what was met (reached or not, and without its optional steps)
    /// the least that had taken effect of these.
    met: FxHashMap<(bool, Configuration<M::State, WORDS>), Vec<Places<WORDS>>>,
    next: Vec<M::State>,
}

/// A set that keeps its order, so that it can be walked while it grows. Most are tiny.
struct Distinct<T> {
    items: SmallVec<[T; LINEAR_MAX]>,
    index: FxHashSet<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Distinct<T> {
    fn new() -> Distinct<T> {
        Distinct { items: SmallVec::new(), index: FxHashSet::default() }
    }

    fn insert(&mut self, item: T) {
        if self.items.len() < LINEAR_MAX {
            if !self.items.contains(&item) {
                self.items.push(item);
            }
            return;
        }
        if self.index.is_empty() {
            self.index.extend(self.items.iter().cloned());
        }
        if self.index.insert(item.clone()) {
            self.items.push(item);
        }
    }

    fn clear(&mut self) {
        self.items.clear();
        self.index.clear();
    }
}

impl<O: Debug, S, const WORDS: usize> Frontier<O, S, WORDS> {
    pub fn new(state: S) -> Self {
        Frontier {
            configurations: smallvec![Configuration { done: Places::EMPTY, state }],
            open: SmallVec::new(),
            used: Places::EMPTY,
            optional: Places::EMPTY,
        }
    }

    /// The operation of the open step at a place.
    pub fn operation(&self, place: usize) -> &O {
        &self.open[place].operation
    }

    /// Whether the call of an open step need not happen.
    pub fn is_optional(&self, place: usize) -> bool {
        self.optional.contains(place)
    }

    /// The call of this step never returns, and no other step comes after it.
    pub fn need_not_happen(&mut self, place: usize) {
        self.optional.insert(place);
    }

    /// These steps have been closed, and steps that are open still come after some of them.
    pub fn forget(&mut self, closed: Places<WORDS>) {
        for step in &mut self.open {
            step.before.take_if(|before| closed.contains(*before));
        }
    }
}

impl<O: Debug, S: PartialEq, const WORDS: usize> Frontier<O, S, WORDS> {
    /// Lets every step take effect that may come at once, and every read that leaves the state as
    /// it is.
    fn read<M: Model<O, State = S>>(
        &self,
        model: &M,
        configuration: &mut Configuration<S, WORDS>,
        next: &mut Vec<S>,
    ) {
        loop {
            let mut places = self.used.without(configuration.done).iter();
            let comes =
                |place: usize| self.open[place].comes_at_once(place, model, configuration, next);
            if !places.any(comes) {
                break;
            }
        }
        for place in self.used.without(configuration.done).iter() {
            let open = &self.open[place];
            if open.reads && open.may_follow(configuration.done) {
                model.step(&configuration.state, &open.operation, next);
                if next.drain(..).any(|state| state == configuration.state) {
                    configuration.done.insert(place);
                }
            }
        }
    }
}

impl<'l, O: Debug, M: Model<O>, const WORDS: usize> Search<'l, O, M, WORDS> {
    pub fn new(model: &'l M, limits: &'l Limits) -> Search<'l, O, M, WORDS> {
        Search {
            model,
            limits,
            decided: None,
            steps: 0,
            copies: 0,
            weight: 0,
            reached: Distinct::new(),
            visited: Distinct::new(),
            met: FxHashMap::default(),
            next: Vec::new(),
        }
    }

    /// Gives up as soon as `lowest`, the lowest part that was found violated, is below `own`.
    pub fn stop_below(mut self, lowest: &'l AtomicUsize, own: usize) -> Self {
        self.decided = Some((lowest, own));
        self
    }

    /// A step is called that must come after the one at the place `before`. Returns its place.
    fn open(
        &mut self,
        frontier: &mut Frontier<O, M::State, WORDS>,
        operation: O,
        before: Option<usize>,
    ) -> Result<usize, Exhausted> {
        let place = frontier.used.first_free().ok_or(Exhausted::Open(WORDS * WORD))?;
        let repeats = self.model.repeats(&operation);
        let ends = before.filter(|before| frontier.open[*before].repeats);
        let reads = !repeats && ends.is_none() && self.model.reads(&operation);
        let open = OpenStep { operation, before, reads, repeats, ends };
        frontier.used.insert(place);
        if reads {
            for configuration in &mut frontier.configurations {
                if open.may_follow(configuration.done) {
                    self.model.step(&configuration.state, &open.operation, &mut self.next);
                    if self.next.drain(..).any(|state| state == configuration.state) {
                        configuration.done.insert(place);
                    }
                }
            }
        }
        let mut came = false;
        for configuration in &mut frontier.configurations {
            came |= open.comes_at_once(place, self.model, configuration, &mut self.next);
        }
        match frontier.open.get_mut(place) {
            Some(at) => *at = open,
            None => frontier.open.push(open),
        }
        if came {
            let mut configurations = std::mem::take(&mut frontier.configurations);
            for configuration in &mut configurations {
                frontier.read(self.model, configuration, &mut self.next);
            }
            frontier.configurations = configurations;
        }
        Ok(place)
    }

    /// Opens the steps of one call; each comes with the number of the step of the same call that
    /// must take effect before. Returns the place of each.
    pub fn call(
        &mut self,
        frontier: &mut Frontier<O, M::State, WORDS>,
        steps: impl IntoIterator<Item = (O, Option<usize>)>,
    ) -> Result<Few<usize>, Exhausted> {
        let mut places: Few<usize> = Few::new();
        for (operation, before) in steps {
            let before = before.map(|number| places[number]);
            places.push(self.open(frontier, operation, before)?);
        }
        Ok(places)
    }

    /// These steps return: they must have taken effect. Says whether any configuration is left; if
    /// none is, the frontier stays as it was.
    pub fn close(
        &mut self,
        frontier: &mut Frontier<O, M::State, WORDS>,
        steps: Places<WORDS>,
    ) -> Result<bool, Exhausted> {
        if frontier.configurations.iter().any(|c| !steps.is_subset(c.done)) {
            self.explore(frontier, steps, |_, c| steps.is_subset(c.done))?;
            if self.reached.items.is_empty() {
                return Ok(false);
            }
            frontier.configurations = self.reached.items.drain(..).collect();
            frontier.used = frontier.used.without(steps);
            if !frontier.optional.is_empty() {
                // Those that make others needless come first, next time.
                frontier.configurations.sort_by_cached_key(|c| c.done.len());
            }
        } else {
            self.release(frontier, steps);
        }
        Ok(true)
    }

    /// Replaces every state by those that `change` appends, which does more than take a step: it is
    /// told how many there may be. Says whether any is left; if none is, the frontier stays as it
    /// was.
    pub fn change(
        &mut self,
        frontier: &mut Frontier<O, M::State, WORDS>,
        change: impl Fn(&M::State, usize, &mut Vec<M::State>),
    ) -> Result<bool, Exhausted> {
        self.reached.clear();
        self.visited.clear();
        self.weight = 0;
        let most = self.limits.configurations_max;
        for Configuration { done, state } in &frontier.configurations {
            change(state, most, &mut self.next);
            for state in self.next.drain(..) {
                self.weight += self.model.weight(&state);
                self.reached.insert(Configuration { done: *done, state });
            }
            self.spend()?;
        }
        if self.reached.items.is_empty() {
            return Ok(false);
        }
        frontier.configurations = self.reached.items.drain(..).collect();
        Ok(true)
    }

    /// These steps return, whether they took effect or not.
    pub fn release(&mut self, frontier: &mut Frontier<O, M::State, WORDS>, steps: Places<WORDS>) {
        frontier.used = frontier.used.without(steps);
        if let [only] = &mut frontier.configurations[..] {
            only.done = only.done.without(steps);
            return;
        }
        self.reached.clear();
        for mut configuration in frontier.configurations.drain(..) {
            configuration.done = configuration.done.without(steps);
            self.reached.insert(configuration);
        }
        frontier.configurations = self.reached.items.drain(..).collect();
    }

    /// Whether the object may be empty once the open steps have taken effect, or have not.
    pub fn can_be_empty(
        &mut self,
        frontier: &Frontier<O, M::State, WORDS>,
    ) -> Result<bool, Exhausted> {
        self.explore(frontier, Places::EMPTY, |model, c| model.is_empty(&c.state))?;
        Ok(!self.reached.items.is_empty())
    }

    /// Collects in `reached` the first configurations on every path that have come to the goal,
    /// without the steps that return.
    fn explore(
        &mut self,
        frontier: &Frontier<O, M::State, WORDS>,
        returning: Places<WORDS>,
        goal: impl Fn(&M, &Configuration<M::State, WORDS>) -> bool,
    ) -> Result<(), Exhausted> {
        self.reached.clear();
        self.visited.clear();
        self.met.clear();
        self.weight = 0;
        for configuration in &frontier.configurations {
            self.sort_in(frontier, configuration.clone(), returning, &goal);
        }
        let mut at = 0;
        while at < self.visited.items.len() {
            let from = self.visited.items[at].clone();
            at += 1;
            let waiting = self.waiting(frontier, &from, returning);
            for place in frontier.used.without(from.done).without(waiting).iter() {
                let open = &frontier.open[place];
                if !open.may_follow(from.done) {
                    continue;
                }
                let mut states = std::mem::take(&mut self.next);
                self.model.step(&from.state, &open.operation, &mut states);
                for state in states.drain(..) {
                    let mut to = Configuration { done: from.done, state };
                    open.take_effect(place, &mut to.done);
                    frontier.read(self.model, &mut to, &mut self.next);
                    self.sort_in(frontier, to, returning, &goal);
                }
                self.next = states;
            }
            self.spend()?;
        }
        Ok(())
    }

    /// The steps that may as well take effect after those that return.
    fn waiting(
        &self,
        frontier: &Frontier<O, M::State, WORDS>,
        from: &Configuration<M::State, WORDS>,
        returning: Places<WORDS>,
    ) -> Places<WORDS> {
        let places: Few<usize> = frontier.used.without(from.done).iter().collect();
        if places.len() < 2 {
            return Places::EMPTY;
        }
        let operations = |places: &[usize]| -> Few<&O> {
            places.iter().map(|place| &frontier.open[*place].operation).collect()
        };
        let due: Few<usize> = returning.without(from.done).iter().collect();
        let mut waits: Few<bool> = Few::from_elem(false, places.len());
        self.model.may_wait(&from.state, &operations(&due), &operations(&places), &mut waits);
        let waiting = places.iter().zip(&waits).filter(|(_, waits)| **waits);
        waiting.map(|(place, _)| *place).collect::<Places<WORDS>>().without(returning)
    }

    fn sort_in(
        &mut self,
        frontier: &Frontier<O, M::State, WORDS>,
        mut configuration: Configuration<M::State, WORDS>,
        returning: Places<WORDS>,
        goal: &impl Fn(&M, &Configuration<M::State, WORDS>) -> bool,
    ) {
        let reached = goal(self.model, &configuration);
        if reached {
            configuration.done = configuration.done.without(returning);
        }
        if !reached && self.is_dead(frontier, &configuration) {
            return;
        }
        let optional = frontier.optional;
        if !optional.is_empty() && self.is_needless(&configuration, reached, optional) {
            return;
        }
        let weight = self.model.weight(&configuration.state);
        self.weight += weight;
        self.copies += weight as u64 / STEP_BYTES;
        let sorted = if reached { &mut self.reached } else { &mut self.visited };
        sorted.insert(configuration);
    }

    /// Whether some open step can never take effect any more, and must: see [`Model::is_too_late`].
    fn is_dead(
        &self,
        frontier: &Frontier<O, M::State, WORDS>,
        configuration: &Configuration<M::State, WORDS>,
    ) -> bool {
        let waiting = frontier.used.without(configuration.done);
        waiting.iter().any(|place| {
            self.model.is_too_late(&configuration.state, &frontier.open[place].operation)
        })
    }

    /// Whether one was met that is as good: the same state, and of the optional steps none has
    /// taken effect that has not here. Whatever can still happen here can happen there, without the
    /// steps that are left there, which never have to.
    fn is_needless(
        &mut self,
        configuration: &Configuration<M::State, WORDS>,
        reached: bool,
        optional: Places<WORDS>,
    ) -> bool {
        let Configuration { done, state } = configuration;
        let required = Configuration { done: done.without(optional), state: state.clone() };
        let done = done.among(optional);
        let met = self.met.entry((reached, required)).or_default();
        if met.iter().any(|other| other.is_subset(done)) {
            return true;
        }
        met.retain(|other| !done.is_subset(*other));
        met.push(done);
        false
    }

    fn spend(&mut self) -> Result<(), Exhausted> {
        self.steps += 1;
        let held = self.visited.items.len() + self.reached.items.len();
        // Twice: in the list, and in the index of what it has.
        let each =
            2 * size_of::<Configuration<M::State, WORDS>>() + self.weight.div_ceil(held.max(1));
        limit(self.limits, self.steps, held, each)?;
        if self.steps + self.copies > self.limits.steps_max {
            return Err(Exhausted::Steps(self.limits.steps_max));
        }
        if self.steps.is_multiple_of(1024) && self.is_beaten() {
            return Err(Exhausted::Cancelled);
        }
        Ok(())
    }

    fn is_beaten(&self) -> bool {
        self.decided.is_some_and(|(lowest, own)| lowest.load(Ordering::Relaxed) < own)
    }
}

/// What a search found; if it gave up because too many steps were open, what a wider one finds.
pub fn or_wider<T>(
    found: Result<T, Exhausted>,
    wider: impl FnOnce() -> Result<T, Exhausted>,
) -> Result<T, Exhausted> {
    match found {
        Err(Exhausted::Open(_)) => wider(),
        found => found,
    }
}

/// Whether a search may go on after so many steps, holding so many configurations of so many bytes.
pub fn limit(limits: &Limits, steps: u64, held: usize, each: usize) -> Result<(), Exhausted> {
    if held > limits.configurations_max {
        return Err(Exhausted::Configurations(limits.configurations_max));
    }
    if steps > limits.steps_max {
        return Err(Exhausted::Steps(limits.steps_max));
    }
    if held.saturating_mul(each) > limits.memory_max {
        return Err(Exhausted::Memory(limits.memory_max));
    }
    if steps % STEPS_BETWEEN_LOOKS == 1 { limits.go_on() } else { Ok(()) }
}
