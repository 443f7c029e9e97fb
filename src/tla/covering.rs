//! Which parts of each action steps went through: its disjuncts, the arms of IF and CASE, and the
//! conjuncts that were tried.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::ir::{Ir, Spot};
use super::specification::{Specification, State};

/// So many states are told apart.
const STATES_MAX: usize = 1 << 20;
/// So many bytes are hashed of most states.
const BYTES: usize = 1 << 10;
/// A specification is small if there are no more that it can come to.
pub const SMALL: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Action,
    /// Of a disjunction.
    Disjunct,
    Then,
    Else,
    /// Of a CASE.
    Arm,
    /// A conjunct.
    Guard,
}

/// A part of an action, and how often it was exercised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub action: String,
    pub kind: Kind,
    /// In how many others it is.
    pub depth: u32,
    pub line: u32,
    pub text: String,
    /// Steps that went through it; of a guard, how often it was true.
    pub taken: u64,
    /// How often a guard was looked at.
    pub tried: u64,
}

/// The parts of each action in their order, which is the same whatever the constants are; and the
/// states that were come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Covered {
    pub parts: Vec<Part>,
    /// Their hashes.
    pub states: FxHashSet<u64>,
    /// Those of all that it can come to, of a small one that says what its steps are.
    pub reachable: Option<FxHashSet<u64>>,
}

impl Covered {
    /// Joins what another process of the same specification exercised.
    pub fn join(&mut self, other: Covered) {
        if self.parts.is_empty() {
            self.parts = other.parts;
        } else {
            for (part, other) in self.parts.iter_mut().zip(other.parts) {
                (part.taken, part.tried) = (part.taken + other.taken, part.tried + other.tried);
            }
        }
        self.states.extend(other.states);
        self.reachable = self.reachable.take().or(other.reachable);
    }
}

/// The hashes of all states that a specification can come to, as far as its constraints go; none if
/// they are more than `most`, or nothing says what all steps are.
pub fn reachable(of: &Specification, most: usize) -> Option<FxHashSet<u64>> {
    let next = of.every.as_ref()?;
    let mut known = FxHashSet::default();
    let mut add = |state: State, open: &mut Vec<State>| {
        if of.is_bounded(&state).ok()? && known.insert(hash(&state)) {
            open.push(state);
        }
        (known.len() <= most).then_some(())
    };
    let mut open = Vec::new();
    of.begin().ok()?.into_iter().try_for_each(|state| add(state, &mut open))?;
    while let Some(state) = open.pop() {
        for step in of.steps(next, &state, &[]).ok()? {
            add(step.next, &mut open)?;
        }
    }
    Some(known)
}

/// What is hashed, in one piece: a state is many small writes, each of which a hasher would have to
/// mix.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        xxh3_64(&self.0)
    }
}

fn hash(state: &State) -> u64 {
    let mut bytes = Bytes(Vec::with_capacity(BYTES));
    state.hash(&mut bytes);
    bytes.finish()
}

/// The same while it is counted. Actions are known by their names, parts by their places.
#[derive(Debug)]
pub struct Covering {
    parts: Vec<Part>,
    numbers: HashMap<(String, Spot, Kind), usize>,
    taken: Vec<AtomicU64>,
    tried: Vec<AtomicU64>,
    states: Mutex<FxHashSet<u64>>,
}

impl Covering {
    /// `is_step`: whether an action is one that calls are steps of, and no part of others.
    pub fn of(specification: &Specification, is_step: &dyn Fn(&str) -> bool) -> Covering {
        let mut parts = Parts { of: specification, all: Vec::new(), numbers: HashMap::new() };
        for name in specification.actions().filter(|name| is_step(name)) {
            if let Some(Ok(action)) = specification.action(name) {
                parts.add(name, Kind::Action, 0, first_spot(&action.of.ir));
                parts.walk(name, &action.of.ir, 1);
            }
        }
        let zeros = || parts.all.iter().map(|_| AtomicU64::new(0)).collect();
        let (taken, tried) = (zeros(), zeros());
        let Parts { all, numbers, .. } = parts;
        Covering { parts: all, numbers, taken, tried, states: Mutex::default() }
    }

    pub fn number(&self, action: &str, kind: Kind, ir: &Ir) -> Option<usize> {
        self.numbers.get(&(action.to_string(), first_spot(ir), kind)).copied()
    }

    /// A conjunct was looked at.
    pub fn tested(&self, action: &str, spot: Spot, is: bool) {
        if let Some(at) = self.numbers.get(&(action.to_string(), spot, Kind::Guard)) {
            self.tried[*at].fetch_add(1, Ordering::Relaxed);
            self.taken[*at].fetch_add(u64::from(is), Ordering::Relaxed);
        }
    }

    /// A step went through these parts, to this state.
    pub fn took(&self, path: &[usize], to: &State) {
        for at in path {
            self.taken[*at].fetch_add(1, Ordering::Relaxed);
        }
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if states.len() < STATES_MAX {
            states.insert(hash(to));
        }
    }

    pub fn covered(&self) -> Covered {
        let count = |all: &[AtomicU64], at: usize| all[at].load(Ordering::Relaxed);
        let part = |(at, part): (usize, &Part)| Part {
            taken: count(&self.taken, at),
            tried: count(&self.tried, at),
            ..part.clone()
        };
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let parts = self.parts.iter().enumerate().map(part).collect();
        Covered { parts, states, reachable: None }
    }
}

struct Parts<'s> {
    of: &'s Specification,
    all: Vec<Part>,
    numbers: HashMap<(String, Spot, Kind), usize>,
}

impl Parts<'_> {
    fn add(&mut self, action: &str, kind: Kind, depth: u32, spot: Spot) {
        let key = (action.to_string(), spot, kind);
        if spot == Spot::default() || self.numbers.contains_key(&key) {
            return;
        }
        self.numbers.insert(key, self.all.len());
        let (line, text) = (spot.place.line, self.of.line(spot).unwrap_or_default());
        let action = action.to_string();
        self.all.push(Part { action, kind, depth, line, text, taken: 0, tried: 0 });
    }

    /// What is in a place where a step may be made.
    fn walk(&mut self, action: &str, ir: &Ir, depth: u32) {
        let mut branch = |kind, ir: &Ir| {
            self.add(action, kind, depth, first_spot(ir));
            self.walk(action, ir, depth + 1);
        };
        match ir {
            Ir::Or(all) => all.iter().for_each(|one| branch(Kind::Disjunct, one)),
            Ir::If(three, _) => {
                branch(Kind::Then, &three[1]);
                branch(Kind::Else, &three[2]);
            }
            Ir::Case { arms, other, .. } => {
                arms.iter().for_each(|arm| branch(Kind::Arm, &arm[1]));
                other.iter().for_each(|arm| branch(Kind::Arm, arm));
            }
            Ir::And(all) => all.iter().for_each(|one| self.walk(action, one, depth)),
            Ir::Let { body, .. } | Ir::Quantified { body, .. } => self.walk(action, body, depth),
            Ir::Shared { of, is_kept: false, .. } => self.walk(action, of, depth),
            Ir::Implies(two) => self.walk(action, &two[1], depth),
            guard => self.add(action, Kind::Guard, depth, guard.spot()),
        }
    }
}

/// Where the first of its parts stands that is known to stand somewhere.
fn first_spot(ir: &Ir) -> Spot {
    match (ir.spot(), ir) {
        (spot, Ir::Shared { of, .. }) if spot == Spot::default() => first_spot(of),
        (spot, _) if spot != Spot::default() => spot,
        _ => {
            let spots = ir.parts().into_iter().map(first_spot);
            spots.into_iter().find(|spot| *spot != Spot::default()).unwrap_or_default()
        }
    }
}
