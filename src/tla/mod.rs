//! Specifications in TLA+: what is read, and evaluated one action at a time.
//!
//! - `act`: Makes the steps of an action: finds the next states that it allows.
//! - `apply`: Resolves operators with their arguments.
//! - `community`: Operators of the community modules SequencesExt, FiniteSetsExt, Functions, Folds,
//!   TLCExt and Bitwise, and those of the standard modules that take an operator.
//! - `config`: The configuration of a specification, as TLC reads it (`Queue.cfg`): what its
//!   constants are, and which definition says how it begins.
//! - `covering`: Which parts of each action steps went through: its disjuncts, the arms of IF and
//!   CASE, and the conjuncts that were tried.
//! - `cursor`: Goes through the tokens of a text, and says what was expected where something else
//!   was found.
//! - `definitions`: Modules of the community, as far as they are defined in TLA+ itself: their
//!   texts come with the program.
//! - `eval`: Evaluates expressions in a state, or in a step from one state to the next.
//! - `expression`: Reads expressions: operators by their precedence, junction lists by their
//!   columns, and names.
//! - `forms`: Reads the expressions that a bracket, a word or a quantifier begins.
//! - `formula`: Reads the formula of a specification (`Init /\ [][Next]_vars /\ WF_vars(Next)`):
//!   how it begins, and which action all steps are.
//! - `ir`: Expressions with their names resolved: what is evaluated.
//! - `load`: Finds the modules of a specification, and makes the scope of each.
//! - `lower`: Resolves the names of expressions: makes of them what is evaluated.
//! - `methods`: Guesses the methods of the structure that a specification is about: one for each
//!   action of `Next`, with the types of its parameters as far as they can be told.
//! - `names`: Reads names: of operators with their arguments, of instances before them, and of
//!   labels.
//! - `native`: Operators of the language and of the standard modules that are evaluated here, not
//!   by their definitions.
//! - `operators`: The operators of TLA+: where each one stands, how tightly it binds, and its one
//!   spelling.
//! - `parse`: Reads modules: their declarations, definitions and instances.
//! - `part`: Resolves the names of parts of definitions: `Inv!2!1`, the first operand of the second
//!   one, `Inv!(a)`, the body of a quantifier with a value for what it binds, and `Inv!label(a)`.
//! - `problem`: Why a specification cannot be read or evaluated: what people read, with the place.
//! - `proof`: Goes past theorems and their proofs, of which nothing is kept.
//! - `recursion`: Resolves definitions that may call themselves: each is a routine, or one for each
//!   operator that it is given.
//! - `scope`: Which names can be used at a place of a specification, and what each stands for.
//! - `sets`: Elements of sets: of those that are listed, and of those that are only described.
//! - `source`: The modules and the configuration of a specification, as they are read, and how they
//!   are compiled for values of its constants.
//! - `specification`: A specification that was compiled: how it begins, and what each of its
//!   actions leads to.
//! - `standard`: Operators of the language, and of Naturals, Integers, Sequences, FiniteSets, TLC
//!   and Bags.
//! - `syntax`: What a TLA+ module says, as it is written.
//! - `token`: Takes the text of a module apart: words, numbers, strings and symbols, each with its
//!   place.
//! - `validate`: The modules that OmniLink generates for a specification: `QueueValidate`, which
//!   checks logs against `Queue`, and `__TraceOps`.
//! - `value`: Values of TLA+.
mod act;
mod apply;
mod community;
mod config;
pub mod covering;
mod cursor;
mod definitions;
mod eval;
mod expression;
mod forms;
mod formula;
mod ir;
mod load;
mod lower;
pub mod methods;
mod names;
mod native;
mod operators;
mod parse;
mod part;
mod problem;
mod proof;
mod recursion;
mod scope;
mod sets;
mod source;
mod specification;
mod standard;
mod syntax;
mod token;
pub mod validate;
mod value;

pub use problem::Problem;
pub use source::Source;
pub use specification::{Action, Blocked, Constants, Specification, State, Step, evaluate};
pub use value::Value;
