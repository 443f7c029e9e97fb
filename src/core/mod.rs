//! The nouns that every part shares: histories, operations, plans, random numbers.
//!
//! - `annotations`: What a test or a log says besides the operations: points and spans of time with
//!   a text, and notes on operations.
//! - `answer`: Kinds of answers: how a call went, whatever its values.
//! - `columns`: Lays out rows of cells in columns: every table in text.
//! - `contract`: The trait `Model`: a sequential object that histories are checked against.
//! - `files`: Files that are written whole or not at all, folders of scratch files, and names from
//!   data that become paths.
//! - `history`: Histories: for each thread, its operations with their timeboxes and answers.
//! - `in_order`: Puts operations into the order of time that nodes report in their own orders, each
//!   with a bound below which it will report nothing more.
//! - `interner`: Interns the values of histories that are not integers.
//! - `journal`: Journals: histories whose operations are of a type of the user's own.
//! - `machine`: The machine that this program runs on, described for reports.
//! - `measured`: How often a finding recurs, measured over repeated rounds.
//! - `memory_order`: Memory orders of atomic accesses, and what it means to take one weaker than it
//!   is written.
//! - `method`: Methods: the operations of a structure that is of no family, each known by its
//!   signature.
//! - `operation_set`: A set of operations: those that occur in a thread, for example.
//! - `operation`: The operations: what can be called on a structure, with which arguments and
//!   answers.
//! - `outcome`: What a command's exit status says: nothing found, found, not decided, or an error.
//! - `own`: A history of a user's own operations, whose model it brings along.
//! - `paths`: Paths without `..`, and relative to a folder, by their names alone.
//! - `plan`: Plans: everything that determines a run, as one value.
//! - `random`: Reproducible random numbers: a seed gives the same draws in every build and machine.
//! - `recorder`: Records the calls of a test or a simulation as they happen, into a journal.
//! - `scenario`: Makes a scenario, which lists calls, from a recorded history.
//! - `sequential_runs`: What a structure answered when the calls of a round were made one at a
//!   time, in several orders.
//! - `source`: Where arguments of methods are drawn from: words behind the types in a signature
//!   that an adapter gives, as in `resize(int 1..64)`.
//! - `system_library`: Tells libraries of the system and of the compiler from those of a target.
//! - `time_limit`: How long work may take, as one value that all its parts look at.
//! - `tsc`: Decides whether this machine's time stamp counter can stamp timeboxes.
//! - `value`: Values of methods: their types, and how words of 64 bits stand for them.
//! - `words`: Calls and their answers in words, as people write them: "dequeue() -> 7".

pub mod annotations;
pub mod answer;
pub mod columns;
pub mod contract;
#[cfg(feature = "fuzzer")]
pub mod files;
pub mod history;
pub mod in_order;
pub mod interner;
pub mod journal;
#[cfg(feature = "fuzzer")]
pub mod machine;
pub mod measured;
#[cfg(feature = "fuzzer")]
pub mod memory_order;
pub mod method;
pub mod operation;
pub mod operation_set;
pub mod outcome;
pub mod own;
pub mod paths;
#[cfg(feature = "fuzzer")]
pub mod plan;
pub mod random;
pub mod recorder;
#[cfg(feature = "fuzzer")]
pub mod scenario;
pub mod sequential_runs;
pub mod source;
#[cfg(feature = "fuzzer")]
pub mod system_library;
pub mod time_limit;
pub mod tsc;
pub mod value;
pub mod words;
