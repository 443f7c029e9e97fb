//! What a TLA+ module says, as it is written. Names are not resolved.

/// Where something begins in its file: line and column, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    pub name: String,
    pub extends: Vec<(String, Place)>,
    pub units: Vec<Unit>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Unit {
    Constants(Vec<Param>),
    Variables(Vec<(String, Place)>),
    /// Operators that may name themselves, or each other, before they are defined.
    Recursive(Vec<Param>),
    Definition(Definition),
    Instance(Instance),
    Assume(Node),
    /// A module inside of this one.
    Module(Module),
}

/// `name(a, F(_, _)) == body`, `a ++ b == body`, or `name[x \in S] == body`. An operator is named
/// by its symbol; prefix minus by "-.".
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub name: String,
    pub params: Vec<Param>,
    /// Of a function: what it is applied to. It has no `params` then.
    pub domain: Vec<Bound>,
    pub body: Node,
    pub is_local: bool,
    pub place: Place,
}

/// A name with the number of arguments that it takes: 0 of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: String,
    pub arity: usize,
    pub place: Place,
}

/// `name(params) == INSTANCE module WITH a <- e`; without a name, its definitions become those of
/// the module that says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    pub name: Option<String>,
    pub params: Vec<Param>,
    pub module: String,
    pub with: Vec<(String, Node)>,
    pub is_local: bool,
    pub place: Place,
}

/// `x, y \in S`, or `<<x, y>> \in S`, which takes each element apart. Without a set where a
/// quantifier or CHOOSE has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub names: Vec<String>,
    pub set: Option<Node>,
    pub is_tuple: bool,
}

/// An expression, and where it begins. Of an infix operator, that is the place of the operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub place: Place,
    pub of: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Number(i64),
    String(String),
    Boolean(bool),
    /// `@` inside of EXCEPT.
    At,
    /// A name, an operator or a symbol with its arguments: `x`, `F(a)`, `a + b` ("+"), `-a` ("-."),
    /// `x'` ("'"), `DOMAIN f`, `SUBSET S`, `UNION S`, `ENABLED A`, `UNCHANGED x`, `[]P`, `<>P`,
    /// `~p`. Symbols with several spellings have one: see `operators`.
    /// `instances`: the prefixes of `A!B!name`, each with its arguments.
    Apply {
        instances: Vec<(String, Vec<Node>)>,
        name: String,
        args: Vec<Node>,
    },
    /// Conjuncts, of a list or of infix operators in a row.
    And(Vec<Node>),
    Or(Vec<Node>),
    /// `LAMBDA x, y : e`.
    Lambda {
        params: Vec<Param>,
        body: Box<Node>,
    },
    /// `\A` if `is_forall`, otherwise `\E`.
    Quantified {
        is_forall: bool,
        bounds: Vec<Bound>,
        body: Box<Node>,
    },
    Choose {
        bound: Box<Bound>,
        body: Box<Node>,
    },
    Tuple(Vec<Node>),
    /// `S \X T \X U`.
    Product(Vec<Node>),
    Set(Vec<Node>),
    /// `{x \in S : p}`.
    Filter {
        bound: Box<Bound>,
        body: Box<Node>,
    },
    /// `{e : x \in S, y \in T}`.
    Map {
        body: Box<Node>,
        bounds: Vec<Bound>,
    },
    /// `[x \in S |-> e]`.
    Function {
        bounds: Vec<Bound>,
        body: Box<Node>,
    },
    /// `[S -> T]`.
    Functions {
        domain: Box<Node>,
        range: Box<Node>,
    },
    /// `[a |-> e, b |-> f]`.
    Record(Vec<(String, Node)>),
    /// `[a : S, b : T]`.
    Records(Vec<(String, Node)>),
    /// `f[a]`; `f[a, b]` has one argument, a tuple.
    Index {
        function: Box<Node>,
        at: Box<Node>,
    },
    Field {
        record: Box<Node>,
        name: String,
    },
    Except {
        function: Box<Node>,
        changes: Vec<Change>,
    },
    If {
        condition: Box<Node>,
        then: Box<Node>,
        otherwise: Box<Node>,
    },
    Case {
        arms: Vec<(Node, Node)>,
        other: Option<Box<Node>>,
    },
    Let {
        units: Vec<Unit>,
        body: Box<Node>,
    },
    /// `[A]_v` if `or_same`, otherwise `<<A>>_v`.
    Action {
        or_same: bool,
        action: Box<Node>,
        of: Box<Node>,
    },
    /// `WF_v(A)` or `SF_v(A)`, which is about behaviours.
    Fairness {
        action: Box<Node>,
        of: Box<Node>,
    },
    /// `P0(x):: e`: a label, which changes nothing. It has the names that are bound around it.
    Labelled {
        label: String,
        params: Vec<String>,
        body: Box<Node>,
    },
}

/// `![a].b = e`.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub path: Vec<Step>,
    pub to: Node,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Index(Node),
    Field(String),
}

impl Node {
    /// The name that this is, without arguments.
    pub fn name(&self) -> Option<&str> {
        match &self.of {
            Expr::Apply { instances, name, args } if instances.is_empty() && args.is_empty() => {
                Some(name)
            }
            _ => None,
        }
    }

    /// Calls `look` for this and all expressions inside of it.
    pub fn each<'a>(&'a self, look: &mut impl FnMut(&'a Node)) {
        look(self);
        self.parts().into_iter().for_each(|part| part.each(look));
    }

    /// What it binds, and the expression in which that is known.
    pub fn binder(&self) -> Option<(&[Bound], &Node)> {
        match &self.of {
            Expr::Quantified { bounds, body, .. }
            | Expr::Map { bounds, body }
            | Expr::Function { bounds, body } => Some((bounds, body)),
            Expr::Choose { bound, body } | Expr::Filter { bound, body } => {
                Some((std::slice::from_ref(bound), body))
            }
            _ => None,
        }
    }

    /// The name, of an expression that is nothing else.
    pub fn plain(&self) -> Option<String> {
        match &self.of {
            Expr::Apply { instances, name, args } if instances.is_empty() && args.is_empty() => {
                Some(name.clone())
            }
            _ => None,
        }
    }

    /// The expressions that it is made of.
    pub fn parts(&self) -> Vec<&Node> {
        if let Some((bounds, body)) = self.binder() {
            return sets(bounds).chain([body]).collect();
        }
        match &self.of {
            Expr::Number(_) | Expr::String(_) | Expr::Boolean(_) | Expr::At => Vec::new(),
            Expr::Apply { instances, args, .. } => {
                instances.iter().flat_map(|(_, args)| args).chain(args).collect()
            }
            Expr::And(all) | Expr::Or(all) | Expr::Tuple(all) | Expr::Product(all) => {
                all.iter().collect()
            }
            Expr::Set(all) => all.iter().collect(),
            Expr::Lambda { body, .. } | Expr::Labelled { body, .. } => vec![body],
            Expr::Functions { domain: one, range: other }
            | Expr::Index { function: one, at: other }
            | Expr::Action { action: one, of: other, .. }
            | Expr::Fairness { action: one, of: other } => vec![one, other],
            Expr::Record(fields) | Expr::Records(fields) => {
                fields.iter().map(|(_, node)| node).collect()
            }
            Expr::Field { record, .. } => vec![record],
            Expr::Except { function, changes } => {
                let changed = changes.iter().flat_map(|change| {
                    let path = change.path.iter().filter_map(|step| match step {
                        Step::Index(node) => Some(node),
                        Step::Field(_) => None,
                    });
                    path.chain([&change.to])
                });
                std::iter::once(&**function).chain(changed).collect()
            }
            Expr::If { condition, then, otherwise } => vec![condition, then, otherwise],
            Expr::Case { arms, other } => {
                arms.iter().flat_map(|(when, then)| [when, then]).chain(other.as_deref()).collect()
            }
            Expr::Let { units, body } => {
                units.iter().flat_map(Unit::expressions).chain([&**body]).collect()
            }
            Expr::Quantified { .. }
            | Expr::Map { .. }
            | Expr::Function { .. }
            | Expr::Choose { .. }
            | Expr::Filter { .. } => unreachable!("it binds names"),
        }
    }
}

impl Unit {
    fn expressions(&self) -> Vec<&Node> {
        match self {
            Unit::Definition(of) => sets(&of.domain).chain([&of.body]).collect(),
            Unit::Instance(of) => of.with.iter().map(|(_, node)| node).collect(),
            _ => Vec::new(),
        }
    }
}

pub fn sets(bounds: &[Bound]) -> impl Iterator<Item = &Node> {
    bounds.iter().filter_map(|bound| bound.set.as_ref())
}
