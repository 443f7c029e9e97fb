//! Expressions with their names resolved: what is evaluated. Operators that are not recursive are
//! in the place of their calls.

use std::sync::Arc;

use super::native::{Native, Taking};
use super::syntax::Place;
use super::value::Value;

#[derive(Debug)]
pub enum Ir {
    Value(Value),
    /// What is bound in a slot of the frame: by a quantifier, or as a parameter.
    Local(u32),
    /// An argument, or what a LET defines: evaluated when it is first asked for. It is kept in its
    /// slot unless it depends on the next state, which changes on the way.
    Shared {
        slot: u32,
        of: Arc<Ir>,
        is_kept: bool,
    },
    /// Forgets what is kept in these slots.
    Let {
        slots: Box<[u32]>,
        body: Box<Ir>,
    },
    /// A variable.
    Now(u32),
    /// A primed variable.
    Next(u32),
    And(Box<[Ir]>),
    Or(Box<[Ir]>),
    Implies(Box<[Ir; 2]>),
    Not(Box<Ir>, Spot),
    Equal(Box<[Ir; 2]>, Spot),
    In(Box<[Ir; 2]>, Spot),
    Native {
        of: Native,
        args: Box<[Ir]>,
        spot: Spot,
    },
    /// One that takes an operator.
    Taking {
        of: Taking,
        operator: Box<Lambda>,
        args: Box<[Ir]>,
        spot: Spot,
    },
    If(Box<[Ir; 3]>, Spot),
    Case {
        arms: Box<[[Ir; 2]]>,
        other: Option<Box<Ir>>,
        spot: Spot,
    },
    Quantified {
        is_forall: bool,
        bounds: Box<[Binding]>,
        body: Box<Ir>,
        spot: Spot,
    },
    Choose {
        bound: Box<Binding>,
        body: Box<Ir>,
        spot: Spot,
    },
    Filter {
        bound: Box<Binding>,
        body: Box<Ir>,
        spot: Spot,
    },
    Map {
        bounds: Box<[Binding]>,
        body: Box<Ir>,
        spot: Spot,
    },
    Function {
        bounds: Box<[Binding]>,
        body: Box<Ir>,
        spot: Spot,
    },
    Set(Box<[Ir]>, Spot),
    Tuple(Box<[Ir]>),
    Record(Box<[(Value, Ir)]>),
    /// A set of records, or of tuples, whose fields are places.
    Records(Box<[(Value, Ir)]>),
    /// The old value of each change is bound in the slot.
    Except {
        function: Box<Ir>,
        changes: Box<[Change]>,
        slot: u32,
        spot: Spot,
    },
    Index {
        function: Box<Ir>,
        at: Box<Ir>,
        spot: Spot,
    },
    Call {
        routine: u32,
        /// Whether what the routine does itself may depend on the next state.
        is_next: bool,
        args: Box<[Ir]>,
        spot: Spot,
    },
    Enabled(Box<Ir>),
    Fail(String, Spot),
}

/// Where an expression stands: the number of the module, and the place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spot {
    pub module: u16,
    pub place: Place,
}

#[derive(Debug)]
pub struct Binding {
    /// Several take elements that are tuples apart.
    pub slots: Box<[u32]>,
    pub is_tuple: bool,
    pub set: Ir,
}

#[derive(Debug)]
pub struct Change {
    pub path: Box<[Ir]>,
    pub to: Ir,
}

#[derive(Debug)]
pub struct Lambda {
    pub slots: Box<[u32]>,
    pub body: Ir,
}

/// An operator that may call itself. Its frame begins with what is bound where it is defined.
#[derive(Debug)]
pub struct Routine {
    pub name: String,
    /// The first slot of its parameters.
    pub first: u32,
    /// Slots of its frame.
    pub size: u32,
    pub body: Ir,
}

impl Ir {
    /// Whether it may depend on the next state.
    pub fn reads_next(&self) -> bool {
        match self {
            Ir::Next(_) | Ir::Enabled(_) | Ir::Call { is_next: true, .. } => true,
            Ir::Shared { of, .. } => of.reads_next(),
            _ => self.parts().into_iter().any(Ir::reads_next),
        }
    }

    /// Whether it is the same in all states, and nothing in it is bound in slots before `first`.
    pub fn is_closed(&self, first: u32) -> bool {
        match self {
            Ir::Now(_) | Ir::Next(_) | Ir::Enabled(_) | Ir::Call { .. } | Ir::Fail(..) => false,
            Ir::Local(slot) => *slot >= first,
            Ir::Shared { slot, of, .. } => *slot >= first && of.is_closed(first),
            _ => self.parts().into_iter().all(|part| part.is_closed(first)),
        }
    }

    /// Where it stands, if it is known.
    pub fn spot(&self) -> Spot {
        match self {
            Ir::Not(_, spot)
            | Ir::Equal(_, spot)
            | Ir::In(_, spot)
            | Ir::If(_, spot)
            | Ir::Set(_, spot)
            | Ir::Native { spot, .. }
            | Ir::Taking { spot, .. }
            | Ir::Case { spot, .. }
            | Ir::Quantified { spot, .. }
            | Ir::Choose { spot, .. }
            | Ir::Filter { spot, .. }
            | Ir::Map { spot, .. }
            | Ir::Function { spot, .. }
            | Ir::Except { spot, .. }
            | Ir::Index { spot, .. }
            | Ir::Call { spot, .. }
            | Ir::Fail(_, spot) => *spot,
            _ => Spot::default(),
        }
    }

    /// The expressions that it is made of.
    pub fn parts(&self) -> Vec<&Ir> {
        match self {
            Ir::Value(_) | Ir::Local(_) | Ir::Now(_) | Ir::Next(_) | Ir::Fail(..) => Vec::new(),
            Ir::Shared { .. } => Vec::new(),
            Ir::Let { body, .. } | Ir::Enabled(body) | Ir::Not(body, _) => vec![body],
            Ir::And(all) | Ir::Or(all) | Ir::Tuple(all) | Ir::Set(all, _) => all.iter().collect(),
            Ir::Implies(two) | Ir::Equal(two, _) | Ir::In(two, _) => two.iter().collect(),
            Ir::Native { args, .. } | Ir::Call { args, .. } => args.iter().collect(),
            Ir::Taking { operator, args, .. } => {
                std::iter::once(&operator.body).chain(args.iter()).collect()
            }
            Ir::If(three, _) => three.iter().collect(),
            Ir::Case { arms, other, .. } => arms.iter().flatten().chain(other.as_deref()).collect(),
            Ir::Quantified { bounds, body, .. }
            | Ir::Map { bounds, body, .. }
            | Ir::Function { bounds, body, .. } => {
                bounds.iter().map(|bound| &bound.set).chain([&**body]).collect()
            }
            Ir::Choose { bound, body, .. } | Ir::Filter { bound, body, .. } => {
                vec![&bound.set, body]
            }
            Ir::Record(fields) | Ir::Records(fields) => fields.iter().map(|(_, ir)| ir).collect(),
            Ir::Except { function, changes, .. } => {
                let changed = changes.iter().flat_map(|of| of.path.iter().chain([&of.to]));
                std::iter::once(&**function).chain(changed).collect()
            }
            Ir::Index { function, at, .. } => vec![function, at],
        }
    }
}
